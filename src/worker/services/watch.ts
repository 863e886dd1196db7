import type { Config } from "../../shared/config/schema.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { bindSources } from "../index/sources.ts";
import type { IndexSource } from "../index/sources.ts";
import { lookAtSource, watchMemory } from "../index/watch-source.ts";
import type { Watch, WatchMemory } from "../index/watch-source.ts";
import { openSandbox } from "../sandbox/open-sandbox.ts";
import { policyOf, sourcesOf, textExtractionOf } from "../settings.ts";
import type { Service } from "./supervisor.ts";

type WatchParts = {
  readonly config: Config;
  readonly database: Database;
  readonly logger: Logger;
};

type Watched = {
  readonly source: IndexSource;
  readonly watch: Watch;
  readonly memory: WatchMemory;
  nextMs: number;
};

/** Looks at the sources that are watched, each in its own rhythm. Rows alone say which files were taken. */
export function watchService({ config, database, logger }: WatchParts): Service {
  const deps = {
    database,
    workroot: config.roots.workroot,
    extensions: config.security.allowed_exts,
  };
  let opened: Promise<readonly Watched[]> | undefined;
  return {
    name: "watched folders",
    trouble: "watched folders could not be looked at",
    channels: [],
    mostRestMs: 30_000,
    async run({ stopping }) {
      const watched = await (opened ??= openWatched(config).catch((error: unknown) => {
        opened = undefined;
        throw error;
      }));
      for (const one of watched) {
        if (stopping.aborted) break;
        if (performance.now() < one.nextMs) continue;
        const { taken, moves } = await lookAtSource(deps, one, one.memory);
        one.nextMs = performance.now() + one.watch.every_s * 1_000;
        if (taken > 0) logger.info({ source: one.source.name, files: taken }, "new files taken");
        for (const move of moves) {
          if (move.kind === "kept")
            logger.warn({ source: one.source.name, why: move.why }, "a file was not moved");
        }
      }
      return Math.max(0, Math.min(...watched.map(({ nextMs }) => nextMs)) - performance.now());
    },
  };
}

export const hasWatches = ({ index }: Config): boolean =>
  index.sources.some(({ watch }) => watch !== undefined);

async function openWatched(config: Config): Promise<readonly Watched[]> {
  const sandbox = await openSandbox(policyOf(config), textExtractionOf(config));
  const bound = bindSources(sandbox, sourcesOf(config), config.roots.workroot);
  return config.index.sources.flatMap(({ name, watch }) => {
    const source = bound.find((one) => one.name === name);
    return watch === undefined || source === undefined
      ? []
      : [{ source, watch, memory: watchMemory(), nextMs: 0 }];
  });
}
