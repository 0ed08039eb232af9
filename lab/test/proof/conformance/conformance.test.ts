/** Compares the simulated coderd with recordings of real ones: both play the same story. */
import { describe, expect, it } from 'vitest';
import { readTranscript, recordedReleases } from '../../../../cli/doctor/answers/recordings.ts';
import { compareEntries, type Difference } from '../../../proof/conformance/stage/compare.ts';
import { KNOWN_DIFFERENCES, knownDifference } from '../../../proof/conformance/stage/known-differences.ts';
import { SimulatedStage } from '../../../proof/conformance/stage/simulated-stage.ts';
import { playStory } from '../../../proof/conformance/story/story.ts';

const recorded = recordedReleases().map(readTranscript);

const found = new Map<string, readonly Difference[]>();
for (const real of recorded) {
  const stage = await SimulatedStage.at(real.version);
  try {
    found.set(real.version, compareEntries(real.entries, await playStory(stage)));
  } finally {
    await stage.close();
  }
}

describe('the simulated coderd', () => {
  it('is compared with at least four releases, one from before the autostart gate', () => {
    const minors = recorded.map(({ version }) => Number(version.split('.')[1])).toSorted((a, b) => a - b);
    expect(minors.length).toBeGreaterThanOrEqual(4);
    expect(minors[0]).toBeLessThan(26);
  });

  it.each(recorded.map(({ version }) => version))(
    'answers like coder %s, except for known differences',
    (version) => {
      const unknown = (found.get(version) ?? []).filter(
        (difference) => knownDifference(difference) === undefined,
      );
      expect(unknown).toEqual([]);
    },
  );

  it('shows every known difference in at least one release', () => {
    const seen = new Set([...found.values()].flat().map(knownDifference));
    expect(KNOWN_DIFFERENCES.filter((known) => !seen.has(known))).toEqual([]);
  });
});
