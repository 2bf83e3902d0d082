//! A text as the image of a QR code.

use png::{BitDepth, ColorType, Encoder};
use qrcode::{Color, EcLevel, QrCode};

/// Pixels of a module's side.
const SCALE: usize = 5;
/// Light modules around the code; the standard requires four.
const MARGIN: usize = 4;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A PNG in black and white.
pub fn png(text: &str) -> Result<Vec<u8>, Failure> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M)?;
    let (modules, colors) = (code.width(), code.to_colors());
    let side = (modules + 2 * MARGIN) * SCALE;
    let is_dark = |x: usize, y: usize| {
        let module = |pixel: usize| (pixel / SCALE).checked_sub(MARGIN);
        let (Some(x), Some(y)) = (module(x), module(y)) else {
            return false;
        };
        x < modules && colors.get(y * modules + x) == Some(&Color::Dark)
    };
    let mut pixels = Vec::with_capacity(side * side.div_ceil(8));
    for y in 0..side {
        for first in (0..side).step_by(8) {
            // Eight pixels; a set bit is white.
            let byte = (first..first + 8).fold(0, |byte, x| byte << 1 | u8::from(!is_dark(x, y)));
            pixels.push(byte);
        }
    }
    let mut file = Vec::new();
    let size = u32::try_from(side)?;
    let mut encoder = Encoder::new(&mut file, size, size);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::One);
    encoder.write_header()?.write_image_data(&pixels)?;
    Ok(file)
}
