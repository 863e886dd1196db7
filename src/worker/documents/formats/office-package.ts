import { posix } from "node:path";
import type { Archive } from "../reader/archive.ts";
import { walkXml } from "../reader/walk-xml.ts";

/** What a part of a package leads to: another part, by its name in the archive. */
export type Relation = { readonly id: string; readonly type: string; readonly target: string };

/** Where a part leads to, whatever its parts are called; the package itself where it is named "". */
export function relationsOf(archive: Archive, part: string): readonly Relation[] {
  const folder = posix.dirname(part);
  const xml = archive.text(posix.join(folder, "_rels", `${posix.basename(part)}.rels`));
  const relations: Relation[] = [];
  if (xml === undefined) return relations;
  walkXml(xml, {
    open(name, { Id = "", Type = "", Target = "", TargetMode }) {
      if (name !== "Relationship" || TargetMode === "External") return;
      const target = Target.replaceAll("\\", "/");
      relations.push({
        id: Id,
        // The name of a type begins differently in the two editions of the standard.
        type: posix.basename(Type),
        target: target.startsWith("/") ? target.slice(1) : posix.join(folder, target),
      });
    },
  });
  return relations;
}

/** The part that the package is about. @param usual where most programs put it */
export const mainPart = (archive: Archive, usual: string): string =>
  relationsOf(archive, "").find(({ type }) => type === "officeDocument")?.target ?? usual;

/** The first part of a type that another part leads to. */
export const targetOf = (relations: readonly Relation[], type: string): string | undefined =>
  relations.find((relation) => relation.type === type)?.target;
