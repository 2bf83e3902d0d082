# The desk in a container.
#
#   docker build -t madoguchi .
#   docker run -d --name desk -p 127.0.0.1:8010:8010 -v madoguchi:/data madoguchi
#   docker exec desk madoguchi keys create laptop
#
# The image contains the program, the libraries it is linked with, certificate authorities,
# and nothing else. It runs as a user without rights, and with a read-only root file system.

ARG BUILD_IMAGE=docker.io/library/rust:1.95-slim-bookworm

FROM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY . .
# `dist` takes longer and makes a smaller program.
ARG PROFILE=release
# The commit and day that `madoguchi --version` names; the clone itself stays outside.
ARG MADOGUCHI_COMMIT=
RUN cargo build --locked --profile "$PROFILE" --package madoguchi \
    && packaging/image/make-root "target/$PROFILE/madoguchi" /image

# scripts/package makes its image from here on, with --build-context build=DIR.
FROM scratch AS image
COPY --from=build /image /
COPY --from=build --chown=65532:65532 /image/data /data
ENV MADOGUCHI_DATA=/data
ENV PATH=/usr/bin
WORKDIR /data
VOLUME /data
USER 65532:65532
# All counters; the shop's own port; InnerVoice's own port.
EXPOSE 8010 8011 7777
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["/usr/bin/madoguchi", "healthcheck", "--config", "/etc/madoguchi/madoguchi.toml"]
LABEL io.modelcontextprotocol.server.name="io.github.madoguchi/madoguchi"
ENTRYPOINT ["/usr/bin/madoguchi"]
CMD ["serve", "--config", "/etc/madoguchi/madoguchi.toml"]
