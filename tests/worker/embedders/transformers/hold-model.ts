import { createTransformersEmbedder } from "../../../../src/worker/embedders/transformers/transformers.ts";
import { TINY_SETTINGS } from "./tiny-settings.ts";

// Stands for a worker that holds a model: hold-model.ts WORKROOT TEXT. It says when the model is loaded, gives it the
// text, and leaves at SIGTERM as a worker does.

const [workroot = "", text = ""] = process.argv.slice(2);
process.on("SIGTERM", () => process.exit(0));
const embedder = await createTransformersEmbedder(TINY_SETTINGS, { workroot });
process.stdout.write("loaded\n");
const until = new AbortController();
await embedder.embed([text], until.signal);
setInterval(() => undefined, 60_000);
