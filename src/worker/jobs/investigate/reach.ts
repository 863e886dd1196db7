import { refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import type { Grant } from "../../../shared/store/investigations/grants.ts";
import type { PipelineDependencies } from "../../evidence/types.ts";
import type { ShellProbe } from "../../sandbox/shell/probe.ts";
import type { ToolReach } from "../../tools/tool.ts";
import type { WebDoor } from "../../web/open-web.ts";
import { isGivenUrl } from "./given-urls.ts";
import { shownSteps } from "./record.ts";
import type { InvestigationRecord } from "./record.ts";
import { openShellDoor } from "./shell-door.ts";
import type { AdmitFiles, GrantedFiles } from "./shell-door.ts";
import type { StepLog } from "./step-log.ts";

/** Hits that are looked at to tell how many lie outside of the grant. */
const MOST_LOOKED_AT = 50;

/** What the tools of an investigation reach through its grant. */
export type ReachedParts = PipelineDependencies & {
  /** Paths of all files that may be read, relative to the work root. */
  readonly listPaths: () => Promise<readonly string[]>;
  readonly admitFiles: AdmitFiles;
  readonly web: WebDoor;
  /** What this machine has to run commands with; null where the grant holds no shell. */
  readonly shell: ShellProbe | null;
};

type ReachedRows = {
  /** What is asked. */
  readonly task: string;
  readonly record: InvestigationRecord;
  readonly log: Pick<StepLog, "output" | "lastState" | "commandRules" | "countRule">;
};

/**
 * What the tools of an investigation reach: all that the sandbox and the index give, and of that only what lies in the
 * folders of the grant. The check is on the path of what was found, as it lies on disk, and never on what the model wrote.
 */
export function reachOf(
  { roots }: Pick<Grant, "roots">,
  deps: ReachedParts,
  { record, log, task }: ReachedRows,
  signal: AbortSignal,
): ToolReach {
  const isWithin = (path: string): boolean =>
    roots.length === 0 || roots.some((root) => liesIn(path, root));
  const check = (path: string): Refusal | null => (isWithin(path) ? null : outside(path, roots));
  const locate: GrantedFiles["locate"] = async (path) => {
    const located = await deps.locate(path);
    return located.kind === "refused" ? located : (check(located.path) ?? located);
  };
  const listFiles = async (): Promise<readonly string[]> =>
    (await deps.listPaths()).filter(isWithin);
  return {
    async readFile(path) {
      const located = await locate(path);
      if (located.kind === "refused") return located;
      const reading = await deps.readTextFile({
        path: located.path,
        lookup: "exact",
        maxChars: deps.settings.ask.max_chars_full_read,
      });
      return reading.kind === "refused" ? reading : (check(reading.path) ?? reading);
    },
    listFiles,
    async search({ text, limit, pathPrefix }) {
      const hits = await deps.search(
        {
          text,
          limit: roots.length === 0 ? limit : MOST_LOOKED_AT,
          pathPrefix,
          source: null,
          documents: {},
        },
        signal,
      );
      const granted = hits.filter(({ path }) => isWithin(path));
      return { passages: granted.slice(0, limit), hidden: hits.length - granted.length };
    },
    async readOutput(number, stream) {
      const step = shownSteps(record.steps)[number - 1];
      if (step === undefined) return undefined;
      if (stream === "result") return step.tool?.output?.text;
      return (await log.output(step.ordinal, stream))?.toString("utf8");
    },
    web: {
      search: (query, limit) => deps.web.search(query, limit, signal),
      fetchPage: (url) => deps.web.fetchPage(url, signal),
      // What is refused anyway nobody has to be asked about.
      needsApproval: (url) =>
        deps.web.judge(url).kind === "url" &&
        (deps.web.asks === "always" || !isGivenUrl(url, { task, steps: record.steps })),
    },
    shell: openShellDoor(deps.shell, {
      log,
      files: { listFiles, locate, check, admit: deps.admitFiles },
      signal,
    }),
    offload: deps.offload,
    signal,
  };
}

/** Whether a path is a folder or lies in it; `notes` holds no `notes-old/a.md`. */
export function liesIn(path: string, root: string): boolean {
  const folder = root.replace(/\/+$/, "");
  return path === folder || path.startsWith(`${folder}/`);
}

const outside = (path: string, roots: readonly string[]): Refusal =>
  refuse(
    "PATH_DENIED",
    `${JSON.stringify(path)} lies outside of what this job may read: ${roots.join(", ")}.`,
  );
