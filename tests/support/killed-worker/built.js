// The worker as it was built: a process that is started ten times a night should not compile it each time.
export { openContext } from "../../../dist/shared/commands/command-context.js";
export { COMMANDS } from "../../../dist/shared/commands/table.js";
export { createRunJob } from "../../../dist/worker/jobs/run-job.js";
export { startWorker } from "../../../dist/worker/start.js";
export { TOOLS } from "../../../dist/worker/tools/all-tools.js";
export { registryOf } from "../../../dist/worker/tools/registry.js";
export { defineTool, outputOf } from "../../../dist/worker/tools/tool.js";
