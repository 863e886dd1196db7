import { isRecord } from "../../shared/json-value.ts";

type Output = Readonly<Record<string, unknown>>;

/**
 * What a run gave beside its answer: the fields of an extraction one a line, items of a list below each other; of a digest
 * what it is of; counters as they are.
 */
export function describeOutput(kind: string, output: Output): readonly string[] {
  switch (kind) {
    case "extract":
      return Object.entries(output).flatMap(([name, value]) => describeField(name, value));
    case "digest":
      return describeDigest(output);
    default:
      return [JSON.stringify(output)];
  }
}

const describeField = (name: string, value: unknown): readonly string[] =>
  Array.isArray(value)
    ? [`${name}: ${value.length}`, ...value.map((item) => `- ${JSON.stringify(item)}`)]
    : [`${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`];

function describeDigest({ children, succeeded, levels, failed }: Output): readonly string[] {
  const left = Array.isArray(failed) ? failed.filter(isRecord) : [];
  return [
    `${String(succeeded)} answers of ${String(children)} jobs, on ${Number(levels) === 0 ? "1 level" : `${Number(levels) + 1} levels`}`,
    ...left.map(
      ({ path, state, error_code: code, job_id: jobId }) =>
        `- ${String(path)} ${String(state)} ${typeof code === "string" ? code : ""}  job ${String(jobId)}`,
    ),
  ];
}
