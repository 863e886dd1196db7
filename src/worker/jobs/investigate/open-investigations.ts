import type { CommandContext } from "../../../shared/commands/command-context.ts";
import type { Database } from "../../../shared/store/connection/database.ts";
import type { ClaimedJob } from "../../../shared/store/jobs/claim-job.ts";
import type { PipelineDependencies } from "../../evidence/types.ts";
import { openMcpServers } from "../../mcp-client/open-servers.ts";
import { lazyOpen } from "../../../shared/once.ts";
import type { WorkerResources } from "../../resources.ts";
import { admitInputs } from "../../sandbox/shell/inputs.ts";
import { probeShell, THIS_MACHINE } from "../../sandbox/shell/probe.ts";
import type { ProbedMachine } from "../../sandbox/shell/probe.ts";
import { TOOLS } from "../../tools/all-tools.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import { openWeb } from "../../web/open-web.ts";
import type { InvestigateDependencies } from "./look-around.ts";
import { openStepLog, outputLimitsOf } from "./step-log.ts";

type InvestigatedJob = {
  readonly job: ClaimedJob;
  readonly resources: WorkerResources;
  readonly pipeline: PipelineDependencies;
};

/** The tools that an investigation may call within its grant, and the machine of its commands. Only tests set them. */
export type InvestigationPlace = {
  readonly registry?: ToolRegistry;
  readonly machine?: ProbedMachine | undefined;
};

/** Opens the parts that investigations and checks of a worker share: the web, MCP servers and the shell of this machine. */
export function openInvestigations(
  { config, invocation }: CommandContext,
  database: Database,
  { registry = TOOLS, machine = THIS_MACHINE }: InvestigationPlace,
): (investigated: InvestigatedJob) => InvestigateDependencies {
  const { env, version } = invocation;
  const web = openWeb({ config, env, database: database.within("claim") });
  const mcp = openMcpServers({ config, env, version });
  const shell = lazyOpen(() => probeShell(machine));
  return ({ job, resources, pipeline }) => ({
    ...pipeline,
    tools: config.tools,
    registry,
    log: openStepLog(database.within("lookup"), job, outputLimitsOf(config)),
    listPaths: async () => (await resources.files()).listPaths(),
    web,
    mcp,
    admitFiles: async (paths, quota) => admitInputs(await resources.sandbox(), paths, quota),
    probeShell: () => shell.get(),
  });
}
