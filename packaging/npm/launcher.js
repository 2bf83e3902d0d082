#!/usr/bin/env node
// Starts the program, which is in a package of its own for each platform. npm installs the
// one that fits, as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");
const { optionalDependencies } = require("../package.json");

const platform = `${process.platform}-${process.arch}`;
const name = Object.keys(optionalDependencies).find((it) => it.endsWith(`/${platform}`));

function fail(message) {
  console.error(`madoguchi: ${message}`);
  process.exit(1);
}

if (name === undefined) {
  const known = Object.keys(optionalDependencies).map((it) => it.split("/")[1]);
  fail(`There is no program for ${platform}, only for ${known.join(", ")}.`);
}

let program;
try {
  program = require.resolve(`${name}/bin/madoguchi`);
} catch {
  fail(`The package ${name} is missing. Install it, and do not leave out optional dependencies.`);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => fail(`${program} can't be started: ${error.message}`));
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  // Ends as the program did.
  signals.forEach((it) => process.removeAllListeners(it));
  process.kill(process.pid, signal);
});
