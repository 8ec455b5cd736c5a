package kafka

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source/memory"
)

// kafka-go ends at Metadata 8 and Fetch 11, which know topics by name only. The
// requests that need ids are kmsg's, at the version that the broker itself offers,
// over kafka-go's connections: pooled, with TLS and SASL done.

// correlation is the id of every request: a connection carries one exchange at
// a time, so that any constant identifies a stray response.
const correlation = 0x6b68 // "kh"

// smallResponse bounds responses that are no fetch.
const smallResponse = 16 << 20

// exchange sends one request on a connection that nothing else uses, and reads its
// response.
func exchange(rw io.ReadWriter, clientID string, request kmsg.Request) (kmsg.Response, error) {
	body, _, err := exchangeBytes(rw, clientID, request, smallBuffer)
	if err != nil {
		return nil, err
	}
	response := request.ResponseKind()
	if err := response.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("%s response: %w", kmsg.NameForKey(request.Key()), err)
	}
	return response, nil
}

// exchangeBytes is exchange that leaves the response, after its header, as it is in a
// buffer of its size.
func exchangeBytes(rw io.ReadWriter, clientID string, request kmsg.Request, buffer func(n int) ([]byte, error)) (body, buf []byte, err error) {
	format := kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID))
	name := kmsg.NameForKey(request.Key())
	if _, err := rw.Write(format.AppendRequest(nil, request, correlation)); err != nil {
		return nil, nil, fmt.Errorf("send %s request: %w", name, err)
	}
	if buf, err = readResponse(rw, buffer); err != nil {
		return nil, nil, fmt.Errorf("read %s response: %w", name, err)
	}
	if body, err = responseBody(buf, request); err != nil {
		return nil, nil, fmt.Errorf("%s response: %w", name, err)
	}
	return body, buf, nil
}

// smallBuffer returns the buffer of a response that is no fetch.
func smallBuffer(n int) ([]byte, error) {
	if n > smallResponse {
		return nil, &tooLargeError{n, smallResponse}
	}
	return make([]byte, n), nil
}

// responseBuffers are some of usual fetches.
var responseBuffers = memory.NewBuffers(2 * defaults.FetchBytes)

// readResponse reads one whole response, without its size.
func readResponse(r io.Reader, buffer func(n int) ([]byte, error)) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	buf, err := buffer(int(binary.BigEndian.Uint32(size[:])))
	if err != nil {
		return nil, err
	}
	_, err = io.ReadFull(r, buf)
	return buf, err
}

// tooLargeError is a response over its limit.
type tooLargeError struct{ size, limit int }

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("%d bytes exceed the limit of %d", e.size, e.limit)
}

// responseBody checks a response's header and cuts it off. The response to
// ApiVersions never has tags in it: who asks does not know the versions yet.
func responseBody(buf []byte, request kmsg.Request) ([]byte, error) {
	if len(buf) < 4 {
		return nil, io.ErrUnexpectedEOF
	}
	if id := binary.BigEndian.Uint32(buf); id != correlation {
		return nil, fmt.Errorf("it is of another request (id %d)", int32(id))
	}
	buf = buf[4:]
	if !request.IsFlexible() || request.Key() == kmsg.ApiVersions.Int16() {
		return buf, nil
	}
	tags, n := binary.Uvarint(buf)
	if n <= 0 || tags != 0 {
		return nil, fmt.Errorf("its header has %d tags, want none", tags)
	}
	return buf[n:], nil
}

// brokerVersions are the versions that brokers offer, learned once a connection:
// a broker that was upgraded ends its connections. The connection's own address
// names it.
type brokerVersions struct {
	known sync.Map // connection to the newest version of each API, a map[int16]int16
}

// newest returns the newest version of an API that the broker at the other end
// offers; negative when it has none.
func (v *brokerVersions) newest(rw io.ReadWriter, clientID string, key int16) (int16, error) {
	name := rw.(net.Conn).LocalAddr().String() // kafka-go's, which is a net.Conn
	known, ok := v.known.Load(name)
	if !ok {
		response, err := exchange(rw, clientID, kmsg.NewPtrApiVersionsRequest())
		if err != nil {
			return 0, err
		}
		versions := make(map[int16]int16)
		for _, k := range response.(*kmsg.ApiVersionsResponse).ApiKeys {
			versions[k.ApiKey] = k.MaxVersion
		}
		v.known.Store(name, versions)
		known = versions
	}
	if newest, ok := known.(map[int16]int16)[key]; ok {
		return newest, nil
	}
	return -1, nil
}

// forget drops what is known of a connection that is closed: the next one may have
// the same address.
func (v *brokerVersions) forget(c net.Conn) { v.known.Delete(c.LocalAddr().String()) }

// call is one small request, at the newest version that both sides speak.
type call struct {
	versions *brokerVersions
	clientID string
	request  kmsg.Request
	newest   int16 // of the request
}

// callResponse is the response to a call.
type callResponse struct{ kmsg.Response }

// ApiKey names the API; kafka-go's spelling.
func (c *call) ApiKey() protocol.ApiKey { return protocol.ApiKey(c.request.Key()) }

// ApiKey names the API; kafka-go's spelling.
func (r *callResponse) ApiKey() protocol.ApiKey { return protocol.ApiKey(r.Key()) }

// Required takes every exchange over.
func (*call) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange implements protocol.RawExchanger.
func (c *call) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	offered, err := c.versions.newest(rw, c.clientID, c.request.Key())
	if err != nil {
		return nil, err
	}
	if offered < 0 {
		return nil, fmt.Errorf("the broker does not know %s requests", kmsg.NameForKey(c.request.Key()))
	}
	c.request.SetVersion(min(offered, c.newest))
	response, err := exchange(rw, c.clientID, c.request)
	if err != nil {
		return nil, err
	}
	return &callResponse{response}, nil
}

// groupCall is a call to a group's coordinator.
type groupCall struct {
	call
	group string
}

// Group routes the request to the group's coordinator.
func (c *groupCall) Group() string { return c.group }

// call makes a request to any broker.
func (l *connection) call(ctx context.Context, request kmsg.Request, newest int16) (kmsg.Response, error) {
	return l.roundTrip(ctx, &call{versions: &l.versions, clientID: l.transport.ClientID, request: request, newest: newest})
}

// callGroup makes a request to the coordinator of a group.
func (l *connection) callGroup(ctx context.Context, group string, request kmsg.Request, newest int16) (kmsg.Response, error) {
	return l.roundTrip(ctx, &groupCall{call{versions: &l.versions, clientID: l.transport.ClientID, request: request, newest: newest}, group})
}

func (l *connection) roundTrip(ctx context.Context, m protocol.Message) (kmsg.Response, error) {
	response, err := l.transport.RoundTrip(ctx, l.client.Addr, m)
	if err != nil {
		return nil, err
	}
	return response.(*callResponse).Response, nil
}

var (
	_ protocol.RawExchanger = (*fetchRequest)(nil)
	_ protocol.RawExchanger = (*call)(nil)
	_ protocol.GroupMessage = (*groupCall)(nil)
)
