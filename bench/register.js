// Lets Node run the TypeScript of this repository, threads as well: `node --import ./bench/register.js bench/index.ts`.
import { register } from "node:module";

register("../tests/typescript-hooks.js", import.meta.url);
