export { openContext } from "../../../src/shared/commands/command-context.ts";
export { COMMANDS } from "../../../src/shared/commands/table.ts";
export { createRunJob } from "../../../src/worker/jobs/run-job.ts";
export { startWorker } from "../../../src/worker/start.ts";
export { TOOLS } from "../../../src/worker/tools/all-tools.ts";
export { registryOf } from "../../../src/worker/tools/registry.ts";
export { defineTool, outputOf } from "../../../src/worker/tools/tool.ts";
