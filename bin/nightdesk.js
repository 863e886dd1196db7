#!/usr/bin/env node
import { existsSync } from "node:fs";
import module from "node:module";

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) {
  // Node 22 and newer keep compiled code on disk, which shortens the start.
  module.enableCompileCache?.();
  await import(main.href);
} else {
  process.stderr.write("nightdesk: it is not built yet. Run: npm run build\n");
  process.exitCode = 1;
}
