import { playNight } from "./play-night.ts";

playNight("postgres");
playNight("embedded");
