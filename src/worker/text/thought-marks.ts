type Marks = { readonly open: string; readonly close: string };

/** The marks that families of models write around their thoughts, if the host does not remove them. */
export const THOUGHT_MARKS: readonly (Marks & { readonly family: string })[] = [
  { family: "Qwen, DeepSeek, GLM, MiniMax, OLMo, Step", open: "<think>", close: "</think>" },
  { family: "prompts for Claude", open: "<thinking>", close: "</thinking>" },
  { family: "Reka", open: "<reasoning>", close: "</reasoning>" },
  { family: "EXAONE", open: "<thought>", close: "</thought>" },
  { family: "Seed", open: "<seed:think>", close: "</seed:think>" },
  { family: "Mistral", open: "[THINK]", close: "[/THINK]" },
  { family: "Command", open: "<|START_THINKING|>", close: "<|END_THINKING|>" },
  { family: "others", open: "<|thought_start|>", close: "<|thought_end|>" },
  { family: "OpenThinker", open: "<|begin_of_thought|>", close: "<|end_of_thought|>" },
  { family: "Apertus", open: "<|inner_prefix|>", close: "<|inner_suffix|>" },
  { family: "Gemma 4", open: "<|channel>thought", close: "<channel|>" },
  { family: "MedGemma", open: "<unused94>", close: "<unused95>" },
  { family: "Kimi", open: "◁think▷", close: "◁/think▷" },
];

/** The marks of chat templates for the begin and end of a turn; a host that misses the end lets the model write on. */
export const TURN_MARKS: readonly (Marks & { readonly family: string })[] = [
  { family: "ChatML: Qwen, SmolLM", open: "<|im_start|>", close: "<|im_end|>" },
  { family: "Llama 3", open: "<|start_header_id|>", close: "<|eot_id|>" },
  { family: "Llama 2", open: "<s>", close: "</s>" },
  { family: "Mistral", open: "[INST]", close: "</s>" },
  { family: "Gemma 2 and 3", open: "<start_of_turn>", close: "<end_of_turn>" },
  { family: "Gemma 4", open: "<|turn>", close: "<turn|>" },
  { family: "Granite", open: "<|start_of_role|>", close: "<|end_of_text|>" },
  { family: "Command", open: "<|START_OF_TURN_TOKEN|>", close: "<|END_OF_TURN_TOKEN|>" },
  { family: "Phi", open: "<|user|>", close: "<|end|>" },
  { family: "GPT-NeoX", open: "<|startoftext|>", close: "<|endoftext|>" },
  { family: "DeepSeek", open: "<｜begin▁of▁sentence｜>", close: "<｜end▁of▁sentence｜>" },
];
