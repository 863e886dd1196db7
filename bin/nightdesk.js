#!/usr/bin/env node
import module from "node:module";

// Node 22 and newer keep compiled code on disk, which halves the start.
module.enableCompileCache?.();
await import("../dist/main.js");
