import { openDatabase } from "../../src/shared/store/connection/database.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import {
  EMBEDDED_PORT,
  socketDirectory,
  socketFile,
} from "../../src/shared/store/embedded/embedded-directory.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology, TopologyName } from "../conformance/topologies.ts";
import { proxyOf, proxyOfSocket } from "./proxy.ts";
import type { Proxy } from "./proxy.ts";

/** A topology whose workers reach each of their services through a proxy. */
export type FaultyTopology = {
  readonly topology: Topology;
  /** For workers in this process: through the proxies. */
  readonly context: Topology["context"];
  /** The same for processes that are spawned. */
  readonly env: Record<string, string>;
  /** Past the proxies: no fault reaches it. */
  readonly onlooker: Database;
  readonly database: Proxy;
  /** Only with Redis. */
  readonly redis: Proxy | undefined;
  dispose(): Promise<void>;
};

export async function startFaultyTopology(
  name: TopologyName,
  overrides: Readonly<Record<string, unknown>> = {},
): Promise<FaultyTopology> {
  const topology = await startTopology(name, overrides);
  return name === "embedded" ? behindSocket(topology) : behindPorts(topology);
}

async function behindPorts(topology: Topology): Promise<FaultyTopology> {
  const { context } = topology;
  const { config } = context;
  const onlooker = await topology.connect();
  const database = await proxyOf(config.database.url);
  const redis =
    config.queue.backend === "redis" ? await proxyOf(config.queue.redis_url) : undefined;
  const queue = { ...config.queue, ...(redis && { redis_url: redis.url }) };
  return {
    topology,
    context: {
      ...context,
      config: { ...config, database: { ...config.database, url: database.url }, queue },
    },
    env: { DATABASE_URL: database.url, ...(redis && { REDIS_URL: redis.url }) },
    onlooker,
    database: database.proxy,
    redis: redis?.proxy,
    async dispose() {
      await onlooker.end();
      await database.proxy.close();
      await redis?.proxy.close();
      await topology.dispose();
    },
  };
}

async function behindSocket(topology: Topology): Promise<FaultyTopology> {
  const starter = await topology.connect();
  const { databaseDirectory } = topology.context.config.roots;
  const file = socketFile(await socketDirectory(databaseDirectory));
  const { proxy, behind } = await proxyOfSocket(file);
  const address = async () => ({ host: behind, port: EMBEDDED_PORT });
  const onlooker = openDatabase({
    target: { kind: "embedded", ensure: address },
    maxConnections: 4,
    statements: "query",
    onError: () => undefined,
  });
  // From now on somebody is always there, and the process does not end by itself.
  await onlooker.query("select 1");
  await starter.end();
  return {
    topology,
    context: topology.context,
    env: {},
    onlooker,
    database: proxy,
    redis: undefined,
    async dispose() {
      await onlooker.end();
      await proxy.close();
      await topology.dispose();
    },
  };
}
