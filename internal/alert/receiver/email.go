package receiver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/wneessen/go-mail"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/settings/options"
)

// email sends plain text by SMTP. Beyond loopback it requires TLS: implicit TLS on port
// 465, STARTTLS on any other. Mails of one incident are one thread.
type email struct {
	server   string
	port     int
	user     string
	password string
	from     string
	to       []string
	domain   string
}

const (
	smtpsPort = 465
	// maxMail is the most bytes to read from a mail server, its certificates included.
	maxMail = 1 << 20
	// mailSubject bounds a subject, in bytes.
	mailSubject = 200
)

func newEmail(s Settings) (Notifier, error) {
	host, port, err := options.SplitAddress(s.Server, "smtp.example.com:587")
	if err == nil && (host == "" || port == 0) {
		err = fmt.Errorf("%q: write host:port, such as smtp.example.com:587", s.Server)
	}
	if err != nil {
		return nil, options.Fault{Field: "server", Err: err}
	}
	if (s.User == "") != (s.Secret == "") {
		return nil, options.Fault{Field: "user", Err: errors.New("give user and secret together, or neither")}
	}
	e := &email{server: host, port: port, user: s.User, password: s.Secret, from: s.From, to: s.To}
	if _, err := e.message(&Notice{ID: "test"}); err != nil {
		return nil, err
	}
	_, e.domain, _ = strings.Cut(strings.Trim(s.From[strings.LastIndexByte(s.From, '<')+1:], "<> "), "@")
	return e, nil
}

// Notify implements Notifier.
func (e *email) Notify(ctx context.Context, n *Notice) Response {
	m, err := e.message(n)
	if err != nil {
		return Response{Err: err, Refused: true, Unsent: true}
	}
	options := []mail.Option{mail.WithPort(e.port), mail.WithDialContextFunc(dialMail), mail.WithTLSPolicy(mail.TLSMandatory)}
	switch {
	case e.port == smtpsPort:
		options = append(options, mail.WithSSL(), mail.WithDialContextFunc(e.dialTLS))
	case daemon.IsLoopbackHost(e.server):
		options = append(options, mail.WithTLSPolicy(mail.TLSOpportunistic))
	}
	if e.user != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(e.user), mail.WithPassword(e.password))
	}
	c, err := mail.NewClient(e.server, options...)
	if err != nil {
		return Response{Err: errors.New("the mail server's settings are not valid"), Refused: true, Unsent: true}
	}
	if err := c.DialWithContext(ctx); err != nil {
		return Response{Err: mailError(err, "connect to the mail server"), Silent: true, Unsent: true}
	}
	err = c.Send(m)
	_ = c.Close() // the mail is sent or not: Close changes neither
	return mailResponse(err)
}

// dialMail makes a connection from which maxMail bytes can be read.
func dialMail(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := dialer().DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &boundedConn{c, maxMail}, nil
}

func (e *email) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := dialMail(ctx, network, address)
	if err != nil {
		return nil, err
	}
	encrypted := tls.Client(c, &tls.Config{ServerName: e.server})
	if err := encrypted.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return encrypted, nil
}

// boundedConn is a connection that fails once left bytes were read. The mail client holds
// each line of an answer whole, and a line may never end.
type boundedConn struct {
	net.Conn
	left int
}

func (c *boundedConn) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, errors.New("the answers are too long")
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

func mailResponse(err error) Response {
	if err == nil {
		return Response{}
	}
	r := Response{Err: mailError(err, "send the mail")}
	if failed, ok := errors.AsType[*mail.SendError](err); ok {
		// A server that answered did not take the mail. A silent server may have taken
		// it.
		r.Unsent = failed.ErrorCode() != 0
		r.Refused = r.Unsent && !failed.IsTemp()
	}
	r.Silent = !r.Unsent
	return r
}

// mailError returns an error without the server's words.
func mailError(err error, doing string) error {
	if failed, ok := errors.AsType[*mail.SendError](err); ok && failed.ErrorCode() != 0 {
		return fmt.Errorf("%s: the server answered %d: see its own log", doing, failed.ErrorCode())
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: it failed: see the server's own log", doing)
}

func (e *email) message(n *Notice) (*mail.Msg, error) {
	m := mail.NewMsg()
	if err := m.From(e.from); err != nil {
		return nil, options.Fault{Field: "from", Err: errors.New("not an address: write Keyheat <keyheat@example.com>")}
	}
	if err := m.To(e.to...); err != nil {
		return nil, options.Fault{Field: "to", Err: errors.New("not addresses: write on-call@example.com")}
	}
	m.Subject(Cut(n.Headline(), mailSubject))
	m.SetDateWithValue(n.At)
	m.SetMessageIDWithValue(n.ID + "@" + e.domain)
	if n.Subject != "" {
		thread := "<" + n.Subject + "@" + e.domain + ">"
		m.SetGenHeader(mail.HeaderReferences, thread)
		m.SetGenHeader(mail.HeaderInReplyTo, thread)
	}
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetBodyString(mail.TypeTextPlain, n.Text())
	return m, nil
}
