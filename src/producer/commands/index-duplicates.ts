import { checkedCommand } from "../../shared/commands/command-context.ts";
import { groupDuplicates, LEAST_SIMILARITY } from "../../shared/files/near-duplicates.ts";
import type { DuplicateGroup, Sketched } from "../../shared/files/near-duplicates.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { layOutLines } from "../../shared/terminal/styled-text.ts";
import { selectDocumentSketches } from "../../shared/views/index-documents.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { countOfOption, sourceOf } from "./options.ts";

const PAGE_DOCUMENTS = 100;
const LEAST_PERCENT = 100 * LEAST_SIMILARITY;

/** Prints groups of indexed documents that are exact copies or near copies of each other. */
export const indexDuplicates = checkedCommand(
  ({ invocation, config }) => sourceOf(invocation.options, config) ?? null,
  async ({ terminal, invocation }, database, source) => {
    const percent = Math.min(100, countOfOption(invocation.options, "alike") ?? LEAST_PERCENT);
    const sketched = await sketchAll(database, source, (done) => {
      terminal.status(`${countOf(done, "document")} compared`);
    });
    terminal.clearStatus();
    const groups = groupDuplicates(sketched, percent / 100);
    const copies = groups.reduce((sum, group) => sum + group.copies.length, 0);
    if (terminal.isJson)
      return terminal.printJson({ ok: true, documents: sketched.length, copies, groups });
    for (const shown of layOutLines(groups.flatMap(groupLines), terminal.dataColumns))
      await terminal.print(shown);
    terminal.say(
      `${countOf(groups.length, "group")}: ${copies === 1 ? "1 copy" : `${formatCount(copies)} copies`} among ${countOf(sketched.length, "document")}.`,
    );
  },
);

async function sketchAll(
  database: Database,
  source: string | null,
  onDone: (done: number) => void,
): Promise<readonly Sketched[]> {
  const sketched: Sketched[] = [];
  for (let after = "0"; ;) {
    const page = await selectDocumentSketches(database, source, after, PAGE_DOCUMENTS);
    for (const { doc_id: id, path, sha256, sketch } of page) {
      after = id;
      sketched.push({ path, sha256, sketch });
    }
    if (page.length === 0) return sketched;
    onDone(sketched.length);
  }
}

const groupLines = ({ path, copies }: DuplicateGroup): readonly string[] => [
  path,
  ...copies.map(
    (copy) =>
      `   ${copy.path}  (${copy.kind === "exact" ? "same bytes" : `${Math.round(100 * copy.similarity)} % alike`})`,
  ),
];
