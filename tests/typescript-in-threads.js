// Jest gives the files of a test as JavaScript, but not those of a thread that is started in it.
import { fileURLToPath } from "node:url";

process.execArgv.push("--import", fileURLToPath(new URL("../bench/register.js", import.meta.url)));
