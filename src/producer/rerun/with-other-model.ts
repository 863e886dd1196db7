import type { JobInput } from "../../shared/job.ts";

/** What a rerun asks with instead of what the old job asked with. */
export type OtherModel = {
  readonly model: string | undefined;
  readonly route: "fast" | "big" | undefined;
};

/** The input with another model or route. A chat knows no route, and a text to embed neither. */
export function withOtherModel(input: JobInput, { model, route }: OtherModel): JobInput {
  const given = {
    ...(model === undefined ? {} : { model }),
    ...(route === undefined ? {} : { route }),
  };
  if (Object.keys(given).length === 0) return input;
  switch (input.kind) {
    case "ask":
      return { ...input, options: { ...input.options, ...given } };
    case "summarize":
      return { ...input, options: { ...input.options, ...given } };
    case "extract":
      return { ...input, options: { ...input.options, ...given } };
    case "digest":
      return { ...input, options: { ...input.options, ...given } };
    case "chat":
      return model === undefined ? input : { ...input, model };
    case "embed":
    case "index":
    case "command":
      return input;
  }
}
