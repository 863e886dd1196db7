import { hash } from "node:crypto";
import { posix } from "node:path";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectNow } from "../../shared/store/index/embeddings.ts";
import { queueByLabels, selectClassified } from "../../shared/store/index/watched-labels.ts";
import type { ClassifiedFile, LabelDecision } from "../../shared/store/index/watched-labels.ts";
import type { IndexSource } from "./sources.ts";
import { readAttachment } from "./watch-attachments.ts";
import { jobOf, rulesForAttachments, rulesOf, selectRule, textReader } from "./watch-rules.ts";
import type { FileToMatch, Rule, Watch } from "./watch-rules.ts";

/** Files that one look decides; the next look continues. */
const MOST_DECIDED = 200;

/** All files are looked at again after this time, because the clock of the database may have been set back. */
const ALL_EVERY_MS = 3_600_000;

/**
 * A process's position in the classifications: first it looks at those of all files, in order of their hash, over several looks
 * if needed, and then at those that have ended since.
 */
export type LabelMemory = {
  state:
    | { readonly of: "all"; readonly after: string; readonly begunAt: string | null }
    | { readonly of: "new"; readonly since: string; readonly untilMs: number };
};

const FROM_THE_FIRST = { of: "all", after: "", begunAt: null } as const;

export const labelMemory = (): LabelMemory => ({ state: FROM_THE_FIRST });

/** @param askedAt when the files were selected, by the database's clock */
function nextState(
  { state }: LabelMemory,
  files: readonly ClassifiedFile[],
  askedAt: string,
): LabelMemory["state"] {
  const hasMore = files.length === MOST_DECIDED;
  if (state.of === "all") {
    const begunAt = state.begunAt ?? askedAt;
    if (hasMore) return { of: "all", after: files.at(-1)?.sha256 ?? "", begunAt };
    return { of: "new", since: begunAt, untilMs: performance.now() + ALL_EVERY_MS };
  }
  if (performance.now() > state.untilMs) return FROM_THE_FIRST;
  return hasMore ? state : { ...state, since: askedAt };
}

/**
 * Applies the rules for labels to each file whose classification has ended since the last look. A file gets one job by its
 * label; a file that was changed has a row and a classification of its own.
 * @returns the decisions of this worker
 */
export async function workByLabels(
  database: Database,
  { source, watch }: { readonly source: IndexSource; readonly watch: Watch },
  batch: string,
  memory: LabelMemory,
): Promise<readonly LabelDecision[]> {
  const askedAt = await selectNow(database);
  const files = await selectClassified(database, source.name, {
    limit: MOST_DECIDED,
    ...memory.state,
  });
  const decisions: LabelDecision[] = [];
  for (const file of files) decisions.push(await decideFile(file, source, watch.rules));
  const written =
    decisions.length === 0
      ? []
      : await queueByLabels(database, { source: source.name, batch, decisions });
  memory.state = nextState(memory, files, askedAt);
  return written;
}

const GOES_BY_LABELS = ({ label, unclassified }: Rule): boolean =>
  label !== undefined || unclassified === true;

async function decideFile(
  file: ClassifiedFile,
  source: IndexSource,
  rules: readonly Rule[],
): Promise<LabelDecision> {
  const passOver = (problem: string | null): LabelDecision => ({
    file,
    job: null,
    moveTo: null,
    problem,
  });
  const { end } = file;
  if (!rules.some(GOES_BY_LABELS)) return passOver(null);
  if (end.kind === "outdated") return passOver("it changed before it was classified");
  const rulesOfStage = rulesOf(rules, end);
  const fitting = file.mail === null ? rulesOfStage : rulesForAttachments(rulesOfStage);
  const found = fitting.length === 0 ? null : await findTaken(file, source);
  if (found === undefined) return passOver("it changed, or is gone, since it was classified");
  const rule = found === null ? undefined : await selectRule(fitting, found);
  if (rule !== undefined) {
    const moveTo = file.mail === null ? (rule.move_to ?? null) : null;
    return { file, job: jobOf(rule, file.path), moveTo, problem: null };
  }
  if (end.kind === "labelled") return passOver(null);
  return passOver(`its classification was ${end.state}: ${end.code ?? "no code"}`);
}

/** Finds the file or attachment; undefined where its content is no longer the classified one. */
async function findTaken(
  { path, mail, sha256 }: ClassifiedFile,
  source: IndexSource,
): Promise<FileToMatch | undefined> {
  const relativePath = posix.relative(source.label, path);
  if (relativePath.startsWith("../")) return undefined;
  const bytes =
    mail === null
      ? await readFile(source, relativePath)
      : (await readAttachment(source, mail, path))?.bytes;
  if (bytes === undefined || hash("sha256", bytes, "hex") !== sha256) return undefined;
  return { relativePath, path, readText: textReader(source, path, bytes) };
}

async function readFile(source: IndexSource, relativePath: string): Promise<Buffer | undefined> {
  const file = await source.read(relativePath);
  return file.kind === "refused" ? undefined : file.bytes;
}
