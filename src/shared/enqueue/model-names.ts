import type { Config } from "../config/schema.ts";

type NamesConfig = {
  readonly model: Pick<Config["model"], "name" | "fast" | "big" | "aliases">;
  readonly embed: Pick<Config["embed"], "model_id">;
};

export type NamesOptions = {
  /** `--model`: this model answers every chat, whatever the lines name. */
  readonly override: string | undefined;
  /** `any`: the model host decides about a name that is neither configured nor an alias. */
  readonly names: "known" | "any";
};

/** Maps the model names of a file to models. A worker can ask its host for models; a producer knows only the configuration. */
export type ModelNames = {
  /** The model of a chat, with its alias resolved; undefined for an unknown name. */
  ofChat(name: string): string | undefined;
  /** Whether the name stands for embed.model_id, the only model that makes vectors. */
  isEmbedder(name: string): boolean;
  /** Whether the command line names the model of every chat. Lines in Nightdesk's own format refuse that: they name their own. */
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
