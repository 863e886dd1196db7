#!/usr/bin/env node
import { existsSync } from "node:fs";
import module from "node:module";

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) {
  // Node 22 and newer keep compiled code on disk, which shortens the start.
  module.enableCompileCache?.();
  await import(main.href).catch((error) => {
    if (error?.code !== "ERR_MODULE_NOT_FOUND") throw error;
    // Its packages are not installed, or are being installed at this moment.
    process.stderr.write(
      `nightdesk: a package that it needs is not there: ${error.message.split("\n")[0]}. ` +
        "Wait for an installation that runs, or run: npm ci\n",
    );
    process.exitCode = 1;
  });
} else {
  process.stderr.write("nightdesk: it is not built yet. Run: npm run build\n");
  process.exitCode = 1;
}
