import { describe } from "@jest/globals";
import { topologies } from "./topologies.ts";
import type { TopologyName } from "./topologies.ts";

/**
 * For tests that need a worker and prove nothing of the queue: on the topologies that their file names, skipped where
 * this machine has no service for one of them.
 */
export function describeOn(
  names: readonly TopologyName[],
  title: string,
  tests: (name: TopologyName) => void,
): void {
  for (const name of names) {
    const run = topologies.includes(name) ? describe : describe.skip;
    run(`${title} on ${name}`, () => {
      tests(name);
    });
  }
}
