import { posix } from "node:path";
import type { Archive } from "../reader/archive.ts";
import { walkXml } from "../reader/walk-xml.ts";

/** A relation from one part of a package to another; `target` is the name of that part in the archive. */
export type Relation = { readonly id: string; readonly type: string; readonly target: string };

/** The relations of a part; of the package itself if `part` is "". */
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
        // Only the last segment: the URI before it differs between the two editions of the standard.
        type: posix.basename(Type),
        target: target.startsWith("/") ? target.slice(1) : posix.join(folder, target),
      });
    },
  });
  return relations;
}

/** The main part of the package. @param usual its name in the files of most programs */
export const mainPart = (archive: Archive, usual: string): string =>
  relationsOf(archive, "").find(({ type }) => type === "officeDocument")?.target ?? usual;

/** The target of the first relation of a type. */
export const targetOf = (relations: readonly Relation[], type: string): string | undefined =>
  relations.find((relation) => relation.type === type)?.target;
