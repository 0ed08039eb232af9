import type { OrganizationId } from '../../lambda/core/brands.ts';
import type { Random } from '../random.ts';
import type { Template, Workspace } from './jobs.ts';

/** Makes the templates and workspaces that jobs belong to, so that their answers are complete. */
export class Templates {
  readonly #byTags = new Map<string, Template>();
  readonly #random: Random;
  #workspaces = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The template of a tag set; `key` is its `tagKey`. */
  of(organizationId: OrganizationId, key: string): Template {
    const place = `${organizationId} ${key}`;
    const template = this.#byTags.get(place) ?? this.#make();
    this.#byTags.set(place, template);
    return template;
  }

  newWorkspace(): Workspace {
    const name = `workspace-${++this.#workspaces}`;
    return { id: this.#random.uuid(), name, buildId: this.#random.uuid() };
  }

  #make(): Template {
    const random = this.#random;
    return {
      id: random.uuid(),
      name: `template-${this.#byTags.size + 1}`,
      versionId: random.uuid(),
      versionName: `version-${random.hex(8)}`,
      fileId: random.uuid(),
    };
  }
}
