import { playNight } from "./play-night.ts";

playNight("redis+postgres", 160);
