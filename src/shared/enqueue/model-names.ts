import type { Config } from "../config/schema.ts";

type NamesConfig = {
  readonly model: Pick<Config["model"], "name" | "fast" | "big" | "aliases">;
  readonly embed: Pick<Config["embed"], "model_id">;
};

export type NamesOptions = {
  /** `--model`: answers every chat, whatever the lines name. */
  readonly override: string | undefined;
  /** `any`: what is neither configured nor an alias is left to the model host. */
  readonly names: "known" | "any";
};

/** What the model names of a file stand for here. A worker asks the host; who queues can only ask the configuration. */
export type ModelNames = {
  /** The model of a chat without its alias; undefined for a name that is not known. */
  ofChat(name: string): string | undefined;
  /** Vectors are made with embed.model_id alone: whether the name stands for it. */
  isEmbedder(name: string): boolean;
  /** Whether the command line names the model of every chat, which lines of ours do themselves. */
  readonly isOverridden: boolean;
  /** Names that a file may use, sorted. */
  readonly known: readonly string[];
};

export function createModelNames(
  { model, embed }: NamesConfig,
  { override, names }: NamesOptions,
): ModelNames {
  const aliases = new Map(Object.entries(model.aliases));
  const withoutAlias = (name: string) => aliases.get(name) ?? name;
  const configured = [model.name, model.fast, model.big].filter((name) => name !== null);
  const isOfEmbedder = (name: string) =>
    withoutAlias(name) === embed.model_id && !configured.includes(embed.model_id);
  const all = new Set([...configured, ...aliases.keys(), ...aliases.values(), "extractive"]);
  const isLax = names === "any" || override !== undefined;
  return {
    ofChat(name) {
      if (override !== undefined) return withoutAlias(override);
      const isKnown = isLax || (all.has(name) && !isOfEmbedder(name));
      return isKnown ? withoutAlias(name) : undefined;
    },
    isEmbedder: (name) => isLax || withoutAlias(name) === embed.model_id,
    isOverridden: override !== undefined,
    known: [...all.add(embed.model_id)].sort(),
  };
}
