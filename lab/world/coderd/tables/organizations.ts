import type { EpochMs, OrganizationId } from '../../../../lambda/decision/model/brands.ts';
import type { Random } from '../../base/random.ts';
import { SimulatorError } from '../../base/simulator-error.ts';
import { CoderdRefusal } from '../rules/refusal.ts';

export type Organization = {
  readonly id: OrganizationId;
  readonly name: string;
  readonly isDefault: boolean;
  readonly createdAt: EpochMs;
};

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** The organizations. The default one is that named `default`, or else the first. */
export class Organizations {
  readonly all: readonly Organization[];

  constructor(given: { readonly names: readonly string[]; readonly random: Random; readonly now: EpochMs }) {
    const { names, random, now } = given;
    if (names.length === 0)
      throw new SimulatorError('creating organizations: the list is empty; coderd always has a default one');
    if (new Set(names).size < names.length)
      throw new SimulatorError(`creating organizations: a name occurs twice in ${names.join(', ')}`);
    const defaultName = names.includes('default') ? 'default' : names[0];
    this.all = names.map((name) => ({
      id: random.uuid() as OrganizationId,
      name,
      isDefault: name === defaultName,
      createdAt: now,
    }));
  }

  named(name: string): Organization {
    const found = this.all.find((organization) => organization.name === name);
    if (found === undefined)
      throw new CoderdRefusal(404, `finding the organization "${name}": there is none`);
    return found;
  }

  get default(): Organization {
    const found = this.all.find(({ isDefault }) => isDefault);
    if (found === undefined) throw new SimulatorError('finding the default organization: there is none');
    return found;
  }

  /** The segment of a URL: a UUID, a name, or `default` (coderd/httpmw/organizationparam.go). */
  inPath(segment: string): Organization | undefined {
    if (segment === 'default' || segment === NIL_UUID) return this.default;
    const wanted = segment.toLowerCase();
    return this.all.find(({ id, name }) => id === wanted || name.toLowerCase() === wanted);
  }
}
