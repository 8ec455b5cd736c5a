// A collector and a DynamoDB on loopback, for tests.
import { once } from "node:events";
import { createServer } from "node:http";
import { gunzipSync } from "node:zlib";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";

/** Starts a server that answers each POST with what a function returns: a status, headers and a body, or nothing to hang up. */
export async function serve(t, answer = () => [200, {}, "{}"]) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    requests.push({ path: request.url, headers: request.headers, body: Buffer.concat(parts) });
    const answered = await answer(requests.length, requests.at(-1));
    if (!answered) {
      request.socket.destroy();
      return;
    }
    const [status, headers, body] = answered;
    response.writeHead(status, headers).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, requests, batches: () => requests.map(batch) };
}

const batch = ({ headers, body }) => ({
  producer: headers["keyheat-producer"],
  sequence: headers["keyheat-sequence"],
  dropped: headers["keyheat-dropped"],
  samples: parse(gunzipSync(body).toString()),
});

export const parse = (text) => text.trim().split("\n").map((line) => JSON.parse(line));

/** Returns a client whose requests are answered without a network: with what a function of the input returns. */
export function dynamodb(answer = () => ({})) {
  const seen = [];
  const requestHandler = {
    handle: async (request) => {
      seen.push(JSON.parse(Buffer.from(request.body).toString()));
      const { status = 200, ...body } = answer(seen.at(-1), seen.length);
      const text = new TextEncoder().encode(JSON.stringify(body));
      const headers = { "content-type": "application/x-amz-json-1.0", "content-length": String(text.length) };
      return { response: { statusCode: status, headers, body: text } };
    },
    destroy: () => undefined,
    metadata: { handlerProtocol: "http/1.1" },
    httpHandlerConfigs: () => ({}),
    updateHttpClientConfig: () => undefined,
  };
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  const client = new DynamoDBClient({ region: "eu-west-1", endpoint: "http://127.0.0.1:1", credentials, requestHandler });
  return Object.assign(client, { seen });
}
