import type { Note } from "../../evidence/types.ts";

/** The operator's durable notes as every prompt of pass 2 ends with them; nothing where there are none. */
export const operatorNotes = (notes: readonly Note[]): string =>
  notes.length === 0
    ? ""
    : `

Notes of the operator, who runs this desk. Follow them where the rules above leave room:
${notes.map(({ type, content }) => `- ${type.replaceAll("_", " ")}: ${content}`).join("\n")}`;
