/** Version of the HTTP API and of the events. */
export const apiVersion = '0.1.0';
