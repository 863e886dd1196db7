import type { Config } from "./schema.ts";

type Naming = { readonly model: object } & Partial<Pick<Config, "verify">>;

/** The setting that names a model, such as `verify.judge.model`; undefined where a job names it. */
export function settingOfModel(name: string, { model, verify }: Naming): string | undefined {
  const paths = (value: unknown, path: string): readonly string[] =>
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, below]) =>
          paths(below, Array.isArray(value) ? path : `${path}.${key}`),
        )
      : value === name
        ? [path]
        : [];
  return [...paths({ ...model, sees: [] }, "model"), ...paths(verify, "verify")][0];
}
