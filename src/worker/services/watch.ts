import type { Config } from "../../shared/config/schema.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { bindSources } from "../index/sources.ts";
import type { IndexSource } from "../index/sources.ts";
import type { LookOutcome } from "../index/watch-source.ts";
import type { Watch } from "../index/watch-rules.ts";
import { lazyOpen } from "../../shared/once.ts";
import { openSandbox } from "../sandbox/open-sandbox.ts";
import { policyOf, sourcesOf, textExtractionOf } from "../settings.ts";
import type { Service } from "./supervisor.ts";

type WatchParts = { readonly config: Config; readonly database: Database; readonly logger: Logger };

type Watched = {
  readonly source: IndexSource;
  readonly watch: Watch;
  readonly look: () => Promise<LookOutcome>;
  nextMs: number;
};

/** Checks each watched source at its own interval. Only rows record which files were taken. */
export function watchService({ config, database, logger }: WatchParts): Service {
  const opened = lazyOpen(() => openWatched({ config, database }));
  return {
    name: "watched folders",
    trouble: "watched folders could not be looked at",
    mostRestMs: 30_000,
    async run({ stopping }) {
      const watched = await opened.get();
      const faults: unknown[] = [];
      for (const one of watched) {
        if (stopping.aborted) break;
        if (performance.now() < one.nextMs) continue;
        // A folder whose look fails holds up no other.
        const outcome = await one.look().catch((error: unknown) => void faults.push(error));
        if (outcome === undefined) continue;
        one.nextMs = performance.now() + one.watch.every_s * 1_000;
        logLook(logger, one.source.name, outcome);
      }
      if (faults.length > 0) throw faults[0];
      return Math.max(0, Math.min(...watched.map(({ nextMs }) => nextMs)) - performance.now());
    },
  };
}

function logLook(logger: Logger, source: string, { taken, decisions, moves }: LookOutcome): void {
  if (taken > 0) logger.info({ source, files: taken }, "new files taken");
  const labelled = decisions.filter(({ job }) => job !== null).length;
  if (labelled > 0) logger.info({ source, files: labelled }, "files queued by their labels");
  for (const { file, problem } of decisions) {
    if (problem !== null)
      logger.warn({ source, path: file.path, why: problem }, "a file was passed over");
  }
  for (const move of moves) {
    if (move.kind === "kept")
      logger.warn({ source, path: move.path, why: move.why }, "a file was not moved");
  }
}

/** A worker without files leaves watched folders and moving files to the workers that have files. */
export const watchesFolders = ({ index, documents }: Config): boolean =>
  documents.from === "files" && index.sources.some(({ watch }) => watch !== undefined);

async function openWatched({
  config,
  database,
}: Omit<WatchParts, "logger">): Promise<readonly Watched[]> {
  const { lookAtSource, watchMemory } = await import("../index/watch-source.ts");
  const { workroot } = config.roots;
  const deps = { database, workroot, extensions: config.security.allowed_exts };
  const sandbox = await openSandbox(policyOf(config), textExtractionOf(config, database));
  const bound = bindSources(sandbox, sourcesOf(config), workroot);
  return config.index.sources.flatMap(({ name, watch }) => {
    const source = bound.find((one) => one.name === name);
    if (watch === undefined || source === undefined) return [];
    const memory = watchMemory();
    const look = () => lookAtSource(deps, { source, watch }, memory);
    return [{ source, watch, look, nextMs: 0 }];
  });
}
