import type { DocumentFilter } from "../../../shared/files/document-filter.ts";
import type { Grant } from "../../../shared/store/investigations/grants.ts";
import type { PipelineDependencies } from "../../evidence/types.ts";
import type { McpServers } from "../../mcp-client/open-servers.ts";
import type { AskMode } from "../../sandbox/shell/command.ts";
import type { ShellProbe } from "../../sandbox/shell/probe.ts";
import { filesWithin } from "../../tools/granted-files.ts";
import type { FileParts } from "../../tools/granted-files.ts";
import type { ToolAccess } from "../../tools/tool.ts";
import { WEB_FETCH } from "../../tools/web-fetch.ts";
import { urlsFound } from "../../tools/web-search.ts";
import type { WebDoor } from "../../web/open-web.ts";
import { urlKey, urlsIn } from "../../web/url-rules.ts";
import { shownSteps } from "./record.ts";
import type { InvestigationRecord, RecordedStep } from "./record.ts";
import { openShellDoor } from "./shell-door.ts";
import type { AdmitFiles } from "./shell-door.ts";
import type { StepLog } from "./step-log.ts";

/** The parts that give the tools of an investigation access within its grant. */
export type ReachedParts = PipelineDependencies &
  FileParts & {
    readonly admitFiles: AdmitFiles;
    readonly web: WebDoor;
    readonly mcp: Pick<McpServers, "reach">;
    /** How this machine runs commands, and which commands need approval; null if the grant has no shell. */
    readonly shell: { readonly probe: ShellProbe; readonly ask: AskMode } | null;
  };

type ReachedRows = {
  /** The question of the job. */
  readonly task: string;
  /** Limits the documents that searches return; all documents if absent. */
  readonly days?: Pick<DocumentFilter, "since" | "until">;
  readonly record: InvestigationRecord;
  readonly log: Pick<StepLog, "output" | "lastState" | "commandRules" | "countRule">;
};

/** The access of an investigation's tools: files and index within its grant, the web and the shell. */
export function reachOf(
  { roots }: Pick<Grant, "roots">,
  deps: ReachedParts,
  { record, log, task, days }: ReachedRows,
  signal: AbortSignal,
): ToolAccess {
  const { check, locate, ...files } = filesWithin(roots, deps, signal, days);
  return {
    ...files,
    async readOutput(number, stream) {
      const step = shownSteps(record.steps)[number - 1];
      if (step === undefined) return undefined;
      if (stream === "result") return step.tool?.output?.text;
      return (await log.output(step.ordinal, stream))?.toString("utf8");
    },
    web: {
      search: (query, limit) => deps.web.search(query, limit, signal),
      fetchPage: (url) => deps.web.fetchPage(url, signal),
      whyOff: (tool) => deps.web.whyOff(tool),
      // Nobody has to approve a URL that is refused anyway.
      approvalReason(url) {
        if (deps.web.judge(url).kind !== "url") return null;
        const { asks } = deps.web;
        return asks === "always" || !isGivenUrl(url, { task, steps: record.steps }) ? asks : null;
      },
    },
    shell: openShellDoor(deps.shell?.probe ?? null, {
      ask: deps.shell?.ask ?? "always",
      log,
      files: { listFiles: files.listFiles, locate, check, admit: deps.admitFiles },
      signal,
    }),
    mcp: deps.mcp.reach(signal),
    offload: deps.offload,
    signal,
  };
}

/**
 * Whether somebody other than the model wrote a URL: the exact URL stands in the task, among the results of a search, or on
 * a page that was fetched. A URL that the model makes up could carry what it has read to the owner of the host. Snippets of
 * searches and texts of documents do not count: a page might repeat words of the model, and a document was not written for
 * this job.
 */
function isGivenUrl(
  url: string,
  { task, steps }: { readonly task: string; readonly steps: readonly RecordedStep[] },
): boolean {
  const key = urlKey(url);
  if (key === undefined) return false;
  return urlsIn(task).has(key) || steps.some((step) => givesUrl(step, key));
}

function givesUrl({ tool }: RecordedStep, key: string): boolean {
  const output = tool?.output ?? null;
  if (tool === null || output === null) return false;
  if (urlsFound(tool).includes(key)) return true;
  if (tool.name !== WEB_FETCH.name) return false;
  const texts = output.evidence.flatMap((piece) =>
    piece.kind === "file" ? [piece.reading.text] : [],
  );
  return [output.text, ...texts].some((text) => urlsIn(text).has(key));
}
