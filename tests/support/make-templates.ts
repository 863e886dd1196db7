// Makes the empty databases that tests copy, before any test waits for one: `make-templates.ts [URL of a server]`.
import { makeTemplates } from "./templates.ts";

await makeTemplates(process.argv[2]);
