import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newName, pass, type StoreHarness, type StoreUnderTest } from './__fixtures__/store-harness.js';
import { settingVersions } from './limits.js';

/** Versioned documents. */
export function describeSettings({ open }: StoreHarness): void {
  describe('settings', () => {
    let under: StoreUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.dispose());

    it('are absent as null and begin with version 1', async () => {
      const { settings } = under.store;
      const name = newName('templates');
      expect(await settings.read(name)).toBeNull();
      expect(await settings.write(name, 0, { list: [], nothing: null })).toBe(true);
      expect(await settings.read(name)).toEqual({ version: 1, value: { list: [], nothing: null } });
    });

    it('let only the writer through who knows the present version', async () => {
      const { settings } = under.store;
      const name = newName('templates');
      await settings.write(name, 0, 'one');
      expect(await settings.write(name, 0, 'never')).toBe(false);
      expect(await settings.write(name, 7, 'never')).toBe(false);
      expect(await settings.write(name, 1, 'two')).toBe(true);
      expect(await settings.read(name)).toEqual({ version: 2, value: 'two' });
    });

    it('let one of two writers win who write at the same time', async () => {
      const other = await under.another();
      const name = newName('templates');
      const wins = await Promise.all([under, other, under, other].map(({ store }, n) => store.settings.write(name, 0, n)));
      expect(wins.filter(Boolean)).toHaveLength(1);
      expect(await under.store.settings.read(name)).toEqual({ version: 1, value: wins.indexOf(true) });
    });

    it('are removed with their versions by a caller that knows the present one, and then start again', async () => {
      const { settings } = under.store;
      const [name, other] = [newName('keys'), newName('keys')];
      for (const one of [name, other]) await settings.write(one, 0, 'one');
      await settings.write(name, 1, 'two');
      expect([await settings.remove(name, 1), (await settings.read(name))?.version]).toEqual([false, 2]);
      expect([await settings.remove(name, 2), await settings.remove(name, 2)]).toEqual([true, true]);
      const elsewhere = (await under.another()).store.settings;
      expect([await elsewhere.read(name), await elsewhere.versions(name), await elsewhere.readVersion(name, 1)]).toEqual([null, [], null]);
      expect(await elsewhere.list('')).toEqual([{ name: other, version: 1 }]);
      expect(await elsewhere.write(name, 0, 'again')).toBe(true);
      expect(await settings.read(name)).toEqual({ version: 1, value: 'again' });
    });

    it('are listed by the beginning of their names, in order, with the version they have', async () => {
      const { settings } = under.store;
      expect(await settings.list('')).toEqual([]);
      for (const name of ['prompts/b', 'prompts/a', 'prompts', 'prompts0', 'Prompts/c', '%', 'prompts/é', 'prompts/🦁', 'prompts/\uffee'])
        await settings.write(name, 0, name);
      await settings.write('prompts/a', 1, 'changed');
      const other = (await under.another()).store.settings;
      expect(await other.list('prompts/')).toEqual([
        { name: 'prompts/a', version: 2 },
        ...['prompts/b', 'prompts/é', 'prompts/🦁', 'prompts/\uffee'].map((name) => ({ name, version: 1 })),
      ]);
      expect((await other.list('prompts')).map(({ name }) => name).slice(0, 2)).toEqual(['prompts', 'prompts/a']);
      expect(await other.list('')).toHaveLength(9);
      expect([await other.list('%'), await other.list('prompts_'), await other.list('*')]).toEqual([[{ name: '%', version: 1 }], [], []]);
    });

    it('keep the versions before the present one, newest first, each with its time and its value', async () => {
      const { settings } = under.store;
      const name = newName('prompts');
      expect([await settings.versions(name), await settings.readVersion(name, 1)]).toEqual([[], null]);
      const before = await under.store.now();
      await settings.write(name, 0, { text: 'one' });
      await pass(under, 20);
      await settings.write(name, 1, { text: 'two' });
      expect(await settings.write(name, 1, { text: 'never' })).toBe(false);
      const versions = await (await under.another()).store.settings.versions(name);
      expect(versions.map(({ version }) => version)).toEqual([2, 1]);
      const [second, first] = versions.map(({ at }) => at) as [number, number];
      expect(first).toBeGreaterThanOrEqual(before);
      expect(second - first).toBeGreaterThanOrEqual(20);
      expect(await settings.readVersion(name, 1)).toEqual({ version: 1, at: first, value: { text: 'one' } });
      expect(await settings.readVersion(name, 2)).toEqual({ version: 2, at: second, value: { text: 'two' } });
      for (const absent of [0, 3, -1, 1.5]) expect(await settings.readVersion(name, absent)).toBeNull();
    });

    it('are rolled back by writing an earlier value as the next version', async () => {
      const { settings } = under.store;
      const name = newName('prompts');
      await settings.write(name, 0, 'good');
      await settings.write(name, 1, 'bad');
      await settings.write(name, 2, (await settings.readVersion(name, 1))!.value);
      expect(await settings.read(name)).toEqual({ version: 3, value: 'good' });
      expect((await settings.versions(name)).map(({ version }) => version)).toEqual([3, 2, 1]);
    });

    it('keep no more than the last versions of each document', async () => {
      const { settings } = under.store;
      const [busy, quiet] = [newName('prompts'), newName('prompts')];
      await settings.write(quiet, 0, 'quiet');
      const written = settingVersions + 3;
      for (let version = 0; version < written; version += 1) await settings.write(busy, version, `text ${version + 1}`);
      const versions = (await settings.versions(busy)).map(({ version }) => version);
      expect(versions).toEqual(Array.from({ length: settingVersions }, (_, n) => written - n));
      expect(await settings.readVersion(busy, 3)).toBeNull();
      expect(await settings.readVersion(busy, 4)).toMatchObject({ value: 'text 4' });
      expect(await settings.versions(quiet)).toMatchObject([{ version: 1 }]);
    });

    it('have no version in their history that lost against another writer', async () => {
      const { settings } = under.store;
      const other = (await under.another()).store.settings;
      const name = newName('prompts');
      const wins = await Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 ? other : settings).write(name, 0, n)));
      expect(await settings.versions(name)).toHaveLength(1);
      expect(await settings.readVersion(name, 1)).toMatchObject({ value: wins.indexOf(true) });
    });

    it('are held apart from the history of others, whatever they are called', async () => {
      const { settings } = under.store;
      const names = ['a', 'a:1', 'a:versions', '{a}', 'a"', 'versions:a', '__proto__'];
      for (const name of names) await settings.write(name, 0, `of ${name}`);
      for (const name of names) {
        expect(await settings.read(name)).toEqual({ version: 1, value: `of ${name}` });
        expect(await settings.versions(name)).toHaveLength(1);
        expect(await settings.readVersion(name, 1)).toMatchObject({ value: `of ${name}` });
      }
    });
  });
}
