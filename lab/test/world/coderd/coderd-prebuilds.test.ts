/** The reconciler of prebuilt workspaces: docs/internals/coder.md §10, "Prebuilt workspaces". */
import { describe, expect, it } from 'vitest';
import type { CoderdOptions } from '../../../world/coderd/model.ts';
import { workspaceAnswer } from '../../../world/coderd/routes/workspace-routes.ts';
import { coderdWorld, HOUR, MINUTE } from './coderd-workspaces-fixture.ts';

/** A preset in a coderd with ten daemons, unless there is none. */
function presetWorld(
  { daemons = 10, ...options }: Partial<CoderdOptions> & { readonly daemons?: number } = {},
  given: { readonly instances?: number; readonly willFail?: boolean } = {},
) {
  const world = coderdWorld(options);
  for (let index = 0; index < daemons; index++) world.worker();
  const template = world.template();
  const preset = world.model.addPreset({ template, instances: 1, ...given });
  const statuses = () =>
    world.model.prebuilds
      .of(preset)
      .map(({ latestBuild: { transition, job } }) => `${transition} ${job.status}`);
  return { ...world, template, preset, statuses };
}

describe('the reconciler of prebuilt workspaces', () => {
  it('makes as many as the preset wants, and another one for each that a user claims', () => {
    const { model, at, preset, statuses } = presetWorld({}, { instances: 2 });
    at(3 * MINUTE);
    expect(statuses()).toEqual(['start succeeded', 'start succeeded']);
    const [first] = model.prebuilds.of(preset);
    const anna = model.addUser({ username: 'anna' });
    if (first !== undefined) model.workspaces.claim(first.id, anna);
    at(6 * MINUTE);
    expect(statuses()).toEqual(['start succeeded', 'start succeeded']);
    expect(first).toMatchObject({ owner: { username: 'anna' }, prebuilt: false });
  });

  it('tries a failing preset again after one minute, then two, and stops at three failures', () => {
    const { at, inserted, statuses } = presetWorld({}, { willFail: true });
    at(5 * HOUR);
    expect(inserted()).toEqual(['1 start', '3 start', '6 start']);
    expect(statuses()).toEqual(['start failed', 'start failed', 'start failed']);
  });

  it('stops at once if the first batch is as large as the limit and fails', () => {
    const { at, inserted } = presetWorld({}, { instances: 4, willFail: true });
    at(5 * HOUR);
    expect(inserted()).toHaveLength(4);
  });

  it.each([
    { options: { prebuilds: { failureHardLimit: 5 } }, builds: 5, because: 'the limit is a setting' },
    { options: { prebuilds: { failureHardLimit: 1 } }, builds: 1, because: 'the limit is a setting' },
    { options: { prebuilds: { failureHardLimit: 0 } }, builds: 18, because: '0 switches the limit off' },
    { options: { version: 'v2.22.0' }, builds: 18, because: 'it has no limit yet' },
  ])('makes $builds failing builds in two hours: $because', ({ options, builds }) => {
    const { at, inserted } = presetWorld(options, { willFail: true });
    at(2 * HOUR);
    expect(inserted()).toHaveLength(builds);
  });

  it('tries again once somebody deletes a failed prebuilt workspace', () => {
    const { model, at, preset, inserted, statuses } = presetWorld({}, { willFail: true });
    at(HOUR);
    expect(inserted()).toHaveLength(3);
    preset.willFail = false;
    for (const workspace of model.prebuilds.of(preset)) model.build(workspace, 'delete', { willFail: false });
    at(2 * HOUR);
    expect(statuses()).toEqual(['start succeeded']);
  });

  it('goes on after a success between two failures', () => {
    const { model, at, preset, inserted } = presetWorld({}, { instances: 2, willFail: true });
    at(MINUTE);
    preset.willFail = false;
    at(10 * MINUTE);
    expect(inserted()).toEqual(['1 start', '1 start', '4 start', '4 start']);
    expect(model.prebuilds.of(preset)).toHaveLength(4);
  });

  it('deletes what is ready and cancels what is pending once another version is active', () => {
    const { model, at, worker, template, statuses } = presetWorld({ daemons: 1 }, { instances: 3 });
    at(2 * MINUTE + 1);
    expect(statuses()).toEqual(['start succeeded', 'start running', 'start pending']);
    model.pushVersion(template, {});
    worker();
    at(10 * MINUTE);
    expect(statuses()).toEqual([]);
  });

  it('leaves failed prebuilt workspaces of earlier versions as they are', () => {
    const { model, at, template, statuses, inserted } = presetWorld({}, { willFail: true });
    at(HOUR);
    model.pushVersion(template, {});
    const next = model.addPreset({ template, instances: 1 });
    at(2 * HOUR);
    expect(statuses()).toEqual(['start failed', 'start failed', 'start failed']);
    expect(model.prebuilds.of(next)).toHaveLength(1);
    expect(inserted()).toHaveLength(4);
  });

  it('counts builds that the reaper failed after half an hour without a daemon', () => {
    const { model, at, preset, inserted } = presetWorld({ daemons: 0 });
    at(3 * HOUR);
    expect(inserted()).toHaveLength(3);
    const jobs = model.prebuilds.of(preset).map(({ latestBuild }) => latestBuild.job);
    expect(jobs.map(({ failedBy }) => failedBy)).toEqual(Array(3).fill('pending-reaper'));
  });
});

describe('the list of workspaces', () => {
  it.each([
    { version: 'v2.21.0', preset: false, flag: false },
    { version: 'v2.24.0', preset: true, flag: false },
    { version: 'v2.25.0', preset: true, flag: true },
  ])('of $version has the preset ($preset) and is_prebuild ($flag)', ({ version, ...expected }) => {
    const { model, at, preset } = presetWorld({ version });
    at(MINUTE);
    const [prebuild] = model.prebuilds.of(preset);
    const answer = prebuild && workspaceAnswer(prebuild, model);
    expect(answer).toMatchObject({
      owner_id: 'c42fdf75-3097-471c-8c33-fb52454d81c0',
      owner_name: 'prebuilds',
    });
    expect(answer?.latest_build.template_version_preset_id).toBe(expected.preset ? preset.id : undefined);
    expect(answer?.is_prebuild).toBe(expected.flag ? true : undefined);
  });
});
