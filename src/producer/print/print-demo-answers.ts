import { z } from "zod";
import type { Database } from "../../shared/db/database.ts";
import { readAsReader } from "../../shared/db/reader-sql.ts";
import type { Terminal } from "../../shared/terminal.ts";

const TIMEOUT_SECONDS = 30;
const SHOWN_EVIDENCE = 3;

const rowSchema = z.tuple([z.string(), z.string(), z.string(), z.string()]);

/** Three questions and a summary of a batch: what was asked, the answer, and the first pieces of evidence. */
export async function printDemoAnswers(
  terminal: Terminal,
  database: Database,
  batch: string,
): Promise<void> {
  const statement = `with answered as (
      select *, row_number() over (partition by kind order by evidence_count, custom_id) as place
        from results where batch = ${quote(batch)} and state = 'succeeded' and kind in ('ask', 'summarize'))
    select custom_id, coalesce(input->>'question', 'Summarize ' || (input->>'path')), answer,
           coalesce((select jsonb_agg(e.path || ' lines ' || e.line_start || '-' || e.line_end || ', sha256 '
                                      || left(e.sha256, 12) || '…' order by e.evidence_id)
                       from evidence e where e.job_id = a.job_id and e.admitted), '[]')
      from answered a
     where kind = 'ask' and place <= 3 or kind = 'summarize' and place = 1
     order by kind, place`;
  for await (const { rows } of readAsReader(database, statement, TIMEOUT_SECONDS)) {
    for (const row of rows) await terminal.printText(describe(rowSchema.parse(row)));
  }
}

function describe([customId, question, answer, evidence]: z.infer<typeof rowSchema>): string {
  const pieces = z.array(z.string()).parse(JSON.parse(evidence));
  const more = pieces.length - SHOWN_EVIDENCE;
  return [
    `\n${customId}: ${question}`,
    ...indent(answer.split("\n")),
    "  evidence:",
    ...indent(pieces.slice(0, SHOWN_EVIDENCE).map((piece) => `  ${piece}`)),
    ...(more > 0 ? [`    … and ${more} more`] : []),
  ].join("\n");
}

const indent = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
