import type { DocumentItem } from "./document-items.ts";
import type { Person } from "./find-people.ts";
import { asName, NAME } from "./person-names.ts";

const NAME_COLUMN = /^(?:name|who|person|wer|people|contact|kontakt)$/i;
const ROLE_COLUMN = /^(?:role|does|function|job|position|rolle|aufgabe|funktion|task)$/i;

/** The people of tables that have a column for their names. */
export function peopleInTable(items: readonly DocumentItem[]): Person[] {
  const people: Person[] = [];
  let columns: { readonly name: number; readonly role: number } | null = null;
  for (const [index, { mark, text }] of items.entries()) {
    if (mark !== "row") {
      columns = null;
      continue;
    }
    const cells = cellsOf(text);
    if (items[index - 1]?.mark !== "row") {
      const name = cells.findIndex((cell) => NAME_COLUMN.test(cell));
      columns =
        name === -1 ? null : { name, role: cells.findIndex((cell) => ROLE_COLUMN.test(cell)) };
    } else if (columns !== null) {
      const cell = cells[columns.name] ?? "";
      const isName = new RegExp(`^${NAME}$`, "u").test(cell);
      const name = isName ? asName(cell) : null;
      const role = cells[columns.role] ?? "";
      if (name !== null) people.push({ quote: cell, name, role: role === "" ? null : role });
    }
  }
  return people;
}

const cellsOf = (row: string): string[] =>
  row
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());
