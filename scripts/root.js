import { fileURLToPath } from "node:url";

/** Absolute folder of the checkout, so that a script works from any current folder. */
export const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
