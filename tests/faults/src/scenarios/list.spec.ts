import { describe, expect, it } from '@jest/globals';
import { protections } from '../programs/protections.js';
import { guaranteesPage } from '../report/guarantees.js';
import { absent, cells, points, services } from './kill-matrix.js';
import { scenarioNamed, scenarios } from './list.js';

describe('the list of fault scenarios', () => {
  it('has a unique name for each', () => {
    const names = scenarios.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('removes every protection in every mode that has it', () => {
    const controls = scenarios.flatMap((scenario) =>
      scenario.controls.flatMap(({ without, modes }) => (modes ?? scenario.modes).map((mode) => `${without} ${mode}`)),
    );
    const tried = new Set(controls.map((one) => one.split(' ')[0]));
    expect(protections.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([]);
    const existing = protections.flatMap(({ name, modes }) => modes.map((mode) => `${name} ${mode}`));
    expect(controls.filter((one) => !existing.includes(one))).toEqual([]);
  });

  it('has a control for each, or says why there is none', () => {
    for (const { name, controls, uncontrolled } of scenarios)
      expect([name, controls.length === 0]).toEqual([name, uncontrolled !== undefined]);
  });

  it('finds the scenario of each control that is part of another', () => {
    for (const { part } of scenarios.flatMap(({ controls }) => controls)) if (part) expect(scenarioNamed(part).name).toBe(part);
  });

  it('kills every service at every point, or says why this is impossible', () => {
    for (const service of services)
      for (const point of points)
        expect(cells.some((cell) => cell.service === service && cell.point === point)).toBe(absent[service]?.[point] === undefined);
  });

  it('puts every promise, its command and its controls on the page of guarantees', () => {
    const page = guaranteesPage();
    for (const { name, promise } of scenarios) {
      expect(page).toContain(promise);
      expect(page).toContain(`npm run faults -- ${name}`);
    }
    for (const { lost } of protections) expect(page).toContain(lost);
  });
});
