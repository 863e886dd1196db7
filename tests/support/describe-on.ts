import { describe } from "@jest/globals";
import { topologies } from "../conformance/topologies.ts";
import type { TopologyName } from "../conformance/topologies.ts";

/**
 * A block of tests on one topology. Its name ends in the topology's, by which scripts/topologies.js counts its tests; without the
 * services of the topology it is skipped.
 */
export function describeOn(
  name: TopologyName,
  what: string,
  tests: (name: TopologyName) => void,
): void {
  const block = topologies.includes(name) ? describe : describe.skip;
  block(`${what} on ${name}`, () => {
    tests(name);
  });
}
