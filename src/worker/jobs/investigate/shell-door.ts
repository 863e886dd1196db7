import { hash } from "node:crypto";
import { attachmentPlaces } from "../../../shared/files/attachment-path.ts";
import { Failure, refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { isGlob, parseGlob } from "../../../shared/files/parse-glob.ts";
import type { StoredCommandRule } from "../../../shared/store/investigations/command-rules.ts";
import { decideCommand } from "../../sandbox/shell/command.ts";
import type { AskMode } from "../../sandbox/shell/command.ts";
import type { ShellExecutor } from "../../sandbox/shell/executor.ts";
import { closeInputs } from "../../sandbox/shell/inputs.ts";
import type { AdmittedFiles } from "../../sandbox/shell/inputs.ts";
import { KEPT_SHELL_LIMITS } from "../../sandbox/shell/limits.ts";
import type { ShellLimits } from "../../sandbox/shell/limits.ts";
import type { ShellProbe } from "../../sandbox/shell/probe.ts";
import type { CommandRule } from "../../sandbox/shell/rules.ts";
import { EMPTY_STATE, parseState } from "../../sandbox/shell/state.ts";
import type { ShellState } from "../../sandbox/shell/state.ts";
import { LIST_FILES } from "../../tools/list-files.ts";
import type { ShellDoor, ShellRun } from "../../tools/tool.ts";
import type { StepLog } from "./step-log.ts";

/** Opens files by the rules of the sandbox of files, up to a quota. */
export type AdmitFiles = (
  paths: readonly string[],
  quota: Pick<ShellLimits, "inputBytes" | "inputFiles">,
) => Promise<AdmittedFiles | Refusal>;

/** The files that a call may receive. */
export type GrantedFiles = {
  /** All files of the grant, relative to the work root, in order. */
  readonly listFiles: () => Promise<readonly string[]>;
  /** Finds the file that a name means, if the grant holds it. */
  readonly locate: (
    path: string,
  ) => Promise<{ readonly kind: "located"; readonly path: string } | Refusal>;
  /** Null for a path that the grant holds, else the refusal. */
  readonly check: (path: string) => Refusal | null;
  readonly admit: AdmitFiles;
};

type DoorParts = {
  /** The mode of the current configuration. */
  readonly ask: AskMode;
  readonly log: Pick<StepLog, "lastState" | "commandRules" | "countRule">;
  readonly files: GrantedFiles;
  readonly signal: AbortSignal;
};

/** Part of what an approval covers: raise the version when a sandbox lets a command do more than before. */
const EXECUTOR = "bubblewrap/2";

/** The shell of an investigation. Each command continues from the state that the last one left, even on another worker. */
export function openShellDoor(probe: ShellProbe | null, parts: DoorParts): ShellDoor {
  if (probe === null) return { kind: "disabled", why: "The grant does not hold it." };
  if (probe.kind === "unavailable") return { kind: "disabled", why: probe.message };
  const held = holdState(parts.log);
  const ids = new Map<CommandRule, string>();
  return {
    kind: "open",
    executor: EXECUTOR,
    async decide(command) {
      const place = (await held.read()) ?? EMPTY_STATE;
      const stored = await parts.log.commandRules();
      ids.clear();
      for (const each of stored) ids.set(ruleOf(each), each.decisionId);
      return decideCommand(command, {
        ask: parts.ask,
        place,
        rules: [...ids.keys()],
        now: new Date(),
      });
    },
    async countRule(rule) {
      const id = ids.get(rule);
      if (id !== undefined) await parts.log.countRule(id);
    },
    async run(command, inputs) {
      const admitted = await admitGranted(inputs, parts.files);
      if (admitted.kind === "refused") return admitted;
      try {
        return await runHeld({
          command,
          files: admitted.files,
          executor: probe.executor,
          held,
          parts,
        });
      } finally {
        closeInputs(admitted.files);
      }
    },
  };
}

function ruleOf({ verdict, rule, expiresAt }: StoredCommandRule): CommandRule {
  const { binary, words, folder } = rule;
  if (verdict === "deny") return { verdict: "forbid", binary, words, expiresAt };
  return { verdict: "allow", binary, words, folder: folder ?? "/input", expiresAt };
}

type HeldState = {
  /** The state of the shell; null before the first call. @throws Failure REVIEW_PENDING if it is lost */
  read(): Promise<ShellState | null>;
  replace(state: ShellState): void;
};

function holdState(log: DoorParts["log"]): HeldState {
  let state: ShellState | null | undefined;
  return {
    async read() {
      state ??= await restoreState(log);
      return state;
    },
    replace: (next) => {
      state = next;
    },
  };
}

async function restoreState(log: DoorParts["log"]): Promise<ShellState | null> {
  const last = await log.lastState();
  if (last === undefined) return null;
  const { step, sha256, content } = last;
  const isWhole = content !== null && hash("sha256", content) === sha256;
  const state = isWhole ? parseState(content) : null;
  if (state === null) throw stateLost(`what step ${step} left in /scratch is gone or damaged`);
  return state;
}

const stateLost = (what: string): Failure =>
  new Failure(
    "REVIEW_PENDING",
    `A command can't go on where the last one stopped, for ${what}. Look, and say what is to become of it: ` +
      "nightdesk approvals list --uncertain.",
  );

type HeldRun = {
  readonly command: Parameters<Extract<ShellDoor, { kind: "open" }>["run"]>[0];
  readonly files: AdmittedFiles["files"];
  readonly executor: ShellExecutor;
  readonly held: HeldState;
  readonly parts: DoorParts;
};

async function runHeld({ command, files, executor, held, parts }: HeldRun): Promise<ShellRun> {
  const pieces = { stdout: new Array<Buffer>(), stderr: new Array<Buffer>() };
  const outcome = await executor.run(
    {
      command,
      inputs: files,
      state: await held.read(),
      limits: KEPT_SHELL_LIMITS,
      sink: { write: (stream, piece) => void pieces[stream].push(Buffer.from(piece)) },
    },
    parts.signal,
  );
  if (outcome.kind === "not_started" && outcome.reason === "state_unreadable") {
    throw stateLost("what it left in /scratch can't be unpacked");
  }
  if (outcome.kind === "ended" && outcome.state.kind === "saved") held.replace(outcome.state.state);
  return {
    kind: "ran",
    outcome,
    stdout: Buffer.concat(pieces.stdout),
    stderr: Buffer.concat(pieces.stderr),
    files: files.map(({ path }) => path),
    fileBytes: files.reduce((total, { bytes }) => total + bytes, 0),
  };
}

/** Opens the files that paths, folders and globs mean, each once, and only files of the grant. */
async function admitGranted(
  patterns: readonly string[],
  files: GrantedFiles,
): Promise<AdmittedFiles | Refusal> {
  const paths = new Set<string>();
  for (const pattern of patterns) {
    const found = await findFiles(pattern, files);
    if (!Array.isArray(found)) return found;
    for (const path of found) paths.add(path);
  }
  const admitted = await files.admit([...paths], KEPT_SHELL_LIMITS);
  if (admitted.kind === "refused") return admitted;
  // Checked again after opening: a file that was moved meanwhile may lie outside of the grant.
  const refused = admitted.files.map(({ path }) => files.check(path)).find((each) => each !== null);
  if (refused === undefined) return admitted;
  closeInputs(admitted.files);
  return refused;
}

async function findFiles(pattern: string, files: GrantedFiles): Promise<string[] | Refusal> {
  const all = await files.listFiles();
  if (all.includes(pattern)) return [pattern];
  const folder = `${pattern.replace(/\/+$/, "")}/`;
  const below = withoutHeld(all.filter((path) => path.startsWith(folder)));
  if (below.length > 0) return below;
  if (!isGlob(pattern)) {
    const located = await files.locate(pattern);
    return located.kind === "refused" ? located : [located.path];
  }
  const glob = parseGlob(pattern);
  if (typeof glob !== "function") {
    return refuse("INVALID_ARGS", `${JSON.stringify(pattern)} in inputs ${glob.problem}.`);
  }
  const matching = withoutHeld(all.filter(glob));
  if (matching.length > 0) return matching;
  return refuse(
    "FILE_NOT_FOUND",
    `No file that this job may read is meant by ${JSON.stringify(pattern)} in inputs; ${LIST_FILES.name} lists them.`,
  );
}

/** Removes attachments of a mail that is itself in the list: one path can't be a file and a folder at once. */
function withoutHeld(paths: readonly string[]): string[] {
  const taken = new Set(paths);
  return paths.filter((path) => !attachmentPlaces(path).some(({ file }) => taken.has(file)));
}
