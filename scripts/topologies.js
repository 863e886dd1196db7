/** The three topologies, as the describe blocks of the tests name them: `describe("on embedded", …)`. */
export const topologies = ["embedded", "postgres", "redis+postgres"];

/** The model host that describe blocks name in the same way, and that is no topology. */
export const llamaServer = "llama-server";

/**
 * How many tests passed on each topology, and on llama-server: those inside a describe block whose name is `<topology>` or ends
 * in it, like `the store on <topology>`.
 * @param {{ testResults: { assertionResults: { status: string, ancestorTitles: string[] }[] }[] }} results what jest
 *   writes with --json
 * @returns {Map<string, number>} in the order of `topologies`, llama-server last
 */
export function countPassed(results) {
  const passed = results.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "passed");
  return new Map(
    [...topologies, llamaServer].map((name) => [
      name,
      passed.filter(({ ancestorTitles }) => ancestorTitles.some((title) => names(title, name)))
        .length,
    ]),
  );
}

const names = (title, topology) => ` ${title}`.endsWith(` ${topology}`);

/**
 * The line that says which topologies were exercised, and why another was not.
 * @param {Map<string, number>} passed tests by topology
 * @param {Record<string, string>} services where each service came from, or why it is missing
 * @returns {string}
 */
export function describeTopologies(passed, services) {
  const exercised = [...passed].filter(([name, count]) => count > 0 && name !== llamaServer);
  const list = exercised.map(([name, count]) => `${name} (${count} passed)`).join(", ");
  const where = Object.entries(services)
    .filter(([name]) => name !== llamaServer)
    .map(([name, note]) => `${name}: ${note}`);
  return `topologies: ${list || "none"} [${where.join("; ")}]`;
}

/**
 * The line that says whether the clients of models met a real server, or doubles alone.
 * @param {Map<string, number>} passed tests by topology
 * @param {Record<string, string>} services where each service came from, or why it is missing
 * @returns {string}
 */
export function describeModelHost(passed, services) {
  const count = passed.get(llamaServer) ?? 0;
  const found = count > 0 ? `${count} passed` : "none ran, model hosts were doubles alone";
  return `llama-server: ${found} [${services[llamaServer]}]`;
}
