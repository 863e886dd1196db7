// Batches of many jobs. Delivery: jobs/s end to end with a model that takes no time, by 1 and by 4 workers, on each
// topology, beside the same queue with one INSERT a job. Scale: what 100,000 or 1,000,000 queued jobs cost to queue, look
// at, cancel, repeat and delete. Needs a build, and TEST_DATABASE_URL and TEST_REDIS_URL for the topologies with services.
// node --import ./bench/register.js bench/batch.ts [--delivery|--scale] [topology …] [--jobs=2000] [--rows=100000] [--million]
import { topologies } from "../tests/conformance/topologies.ts";
import { measureDelivery } from "./batch-delivery.ts";
import { measureScale } from "./batch-scale.ts";

const args = process.argv.slice(2);
const countOf = (name: string, otherwise: number): number =>
  Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split("=")[1] ?? otherwise);
const named = topologies.filter((name) => args.includes(name));
const chosen = named.length === 0 ? topologies : named;

if (!args.includes("--scale")) {
  for (const name of chosen) await measureDelivery(name, countOf("jobs", 2_000));
}
if (!args.includes("--delivery")) {
  const rows = args.includes("--million") ? 1_000_000 : countOf("rows", 100_000);
  for (const name of chosen.filter((other) => other !== "redis+postgres")) {
    await measureScale(name, rows);
  }
}
