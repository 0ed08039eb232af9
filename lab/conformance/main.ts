/**
 * Plays the story on a real coderd and writes down what it said:
 * `node lab/conformance/main.ts --coderd URL --control URL --out FILE`, with an owner's token in CODER_SESSION_TOKEN.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { RealStage } from './real-stage.ts';
import { playStory } from './story.ts';
import { transcriptText } from './transcript.ts';

const { values } = parseArgs({
  options: { coderd: { type: 'string' }, control: { type: 'string' }, out: { type: 'string' } },
});
const { coderd: url, control, out } = values;
const token = process.env.CODER_SESSION_TOKEN;
if (url === undefined || control === undefined || out === undefined || token === undefined) {
  process.stderr.write(
    'usage: CODER_SESSION_TOKEN=… node lab/conformance/main.ts --coderd URL --control URL --out FILE\n',
  );
  process.exit(2);
}

const stage = await RealStage.at({ url, control, token });
const startedAt = Date.now();
const entries = await playStory(stage);
const transcript = {
  version: stage.version,
  playedAt: new Date(startedAt).toISOString().slice(0, 10),
  calls: stage.calls,
  entries,
};
writeFileSync(out, transcriptText(transcript));
process.stdout.write(
  `${stage.version}: ${entries.length} steps, ${stage.calls} calls, ${((Date.now() - startedAt) / 1000).toFixed(0)} s\n`,
);
