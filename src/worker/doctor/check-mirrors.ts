import type { Config } from "../../shared/config/schema.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectMirrors } from "../../shared/store/index/remote-files.ts";
import type { MirrorState } from "../../shared/store/index/remote-files.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

/** How old the mirrors of sources that are elsewhere are, and what they keep though it is gone there; nothing where none is. */
export async function checkMirrors(
  { index }: Config,
  database: Database,
): Promise<readonly Check[]> {
  const names = index.sources.filter(({ from }) => from !== undefined).map(({ name }) => name);
  if (names.length === 0) return [];
  const states = new Map((await selectMirrors(database)).map((state) => [state.source, state]));
  return names.map((name) => checkMirror(name, states.get(name)));
}

function checkMirror(name: string, state: MirrorState | undefined): Check {
  const hours = state?.hours ?? null;
  if (state === undefined || hours === null)
    return warn(
      "DOCTOR_MIRROR_NONE",
      `Source ${name} was not mirrored to the end yet.`,
      `Run: nightdesk sync ${name} --wait`,
    );
  const { files, held, skipped } = state;
  const message =
    `The mirror of source ${name} has ${countOf(files, "file")}, and its place was last listed ${hours.toFixed(1)} h ago` +
    `; skipped: ${skipped}`;
  return held === 0
    ? ok("DOCTOR_MIRROR_OK", `${message}.`)
    : warn(
        "DOCTOR_MIRROR_HELD",
        `${message}; gone there and kept here: ${held}.`,
        `Look: nightdesk sql "select path, reason from remote_files where fate = 'held'"; delete them: nightdesk sync ${name} --accept-deletions`,
      );
}
