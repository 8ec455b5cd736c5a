package receiver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"

	"github.com/keyheat/keyheat/internal/aws/awserror"
	"github.com/keyheat/keyheat/internal/settings/options"
)

const (
	// snsSubject is SNS's limit on a subject, in ASCII characters without control
	// characters.
	snsSubject = 100
	// snsMessage bounds a message in bytes; SNS takes 256 KB.
	snsMessage = 64 << 10
)

// topic publishes to an SNS topic. Subscriptions can filter by its attributes event,
// severity, account, region, table and index.
type topic struct {
	arn    string
	region string

	mu     sync.Mutex
	client *sns.Client // made by the first connect
}

func newSNS(s Settings) (Notifier, error) {
	a, err := arn.Parse(s.Topic)
	if err != nil || a.Service != "sns" || a.Region == "" {
		return nil, options.Fault{Field: "topic", Err: errors.New("not a topic's ARN: write arn:aws:sns:eu-west-1:111122223333:on-call")}
	}
	return &topic{arn: s.Topic, region: a.Region}, nil
}

// Notify implements Notifier.
func (t *topic) Notify(ctx context.Context, n *Notice) Response {
	client, err := t.connect(ctx)
	if err != nil {
		return Response{Err: err, Unsent: true}
	}
	_, err = client.Publish(ctx, t.input(n))
	if err == nil {
		return Response{}
	}
	refusal, answered := errors.AsType[smithy.APIError](err)
	if !answered {
		return Response{Err: fmt.Errorf("publish to SNS: %w", err), Silent: true}
	}
	status, known := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err)
	rejected := known && status.HTTPStatusCode() < http.StatusInternalServerError
	// SNS's texts may repeat the message; its codes do not.
	return Response{
		Err: fmt.Errorf("SNS answered %s", refusal.ErrorCode()), Unsent: rejected,
		Refused: rejected && !strings.Contains(refusal.ErrorCode(), "Throttl"),
	}
}

// connect returns the client. Its first call loads the environment's credentials.
func (t *topic) connect(ctx context.Context) (*sns.Client, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.client == nil {
		loaded, err := config.LoadDefaultConfig(ctx, config.WithRegion(t.region), config.WithLogger(logging.Nop{}), config.WithAPIOptions([]func(*middleware.Stack) error{awserror.LimitResponse}))
		if err != nil {
			return nil, fmt.Errorf("AWS credentials: %w", err)
		}
		t.client = sns.NewFromConfig(loaded)
	}
	return t.client, nil
}

func (t *topic) input(n *Notice) *sns.PublishInput {
	in := &sns.PublishInput{
		TopicArn: &t.arn, Subject: aws.String(snsSubjectOf(n.Headline())), Message: aws.String(Cut(n.Text(), snsMessage)),
		MessageAttributes: make(map[string]types.MessageAttributeValue),
	}
	attributes, labels := map[string]string{"event": n.Event, "severity": string(n.Severity()), "incident": n.Subject}, n.Labels()
	for _, name := range []string{"account", "region", "table", "index", "case", "subject"} {
		attributes[name] = labels[name]
	}
	for name, value := range dropEmpty(attributes) {
		in.MessageAttributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(value)}
	}
	if strings.HasSuffix(t.arn, ".fifo") {
		in.MessageGroupId, in.MessageDeduplicationId = aws.String(n.Subject), aws.String(n.ID)
	}
	return in
}

func snsSubjectOf(text string) string {
	ascii := strings.Map(func(r rune) rune {
		switch {
		case r == '“' || r == '”':
			return '"'
		case r < ' ' || r > '~':
			return '?'
		}
		return r
	}, text)
	if len(ascii) > snsSubject {
		ascii = ascii[:snsSubject-3] + "..."
	}
	return ascii
}
