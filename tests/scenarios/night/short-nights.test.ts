import { playNight } from "./play-night.ts";

playNight("postgres", 80);
playNight("embedded", 80);
