package bucket

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/internal/say/wording"
)

// maxObjects is the most objects of a reading, at some 300 bytes of memory each.
const maxObjects = 500_000

// maxLists is the most LIST requests of a reading: an endpoint may list objects for ever of
// which none is to be read.
const maxLists = 10_000

type object struct {
	bucket, key, etag string
	size              int64
}

func (o *object) path() string { return Scheme + o.bucket + "/" + o.key }

// parts is how many requests it takes to read the object.
func (o *object) parts() int64 { return (o.size + partSize - 1) / partSize }

// query is a parsed path.
type query struct {
	bucket, prefix string
	pattern        string // for keys; empty for all keys with the prefix
}

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$`)

// parse parses s3://BUCKET/PREFIX; the prefix may be a pattern.
func parse(address string) (q query, err error) {
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(address, Scheme), "/")
	if !bucketName.MatchString(bucket) {
		return q, fmt.Errorf("%s: %q is no name of a bucket: write s3://BUCKET/PREFIX", address, bucket)
	}
	q = query{bucket: bucket, prefix: prefix}
	if at := strings.IndexAny(prefix, "*?["); at >= 0 {
		if _, err := path.Match(prefix, ""); err != nil {
			return q, fmt.Errorf("%s: %w", address, err)
		}
		q.prefix, q.pattern = prefix[:at], prefix
	}
	return q, nil
}

func (q *query) wants(key string) bool {
	if strings.Contains(key, "/CloudTrail-Digest/") && !strings.Contains(q.prefix, "/CloudTrail-Digest/") {
		return false // digests of a trail's files hold no events
	}
	if q.pattern == "" {
		return true
	}
	// A matching folder stands for all of its objects.
	parts := strings.SplitAfter(key, "/")
	parts = parts[:min(len(parts), strings.Count(q.pattern, "/")+1)]
	matches, _ := path.Match(strings.TrimSuffix(q.pattern, "/"), strings.TrimSuffix(strings.Join(parts, ""), "/")) // parse has checked the pattern
	return matches
}

// find lists the objects of all paths, in the order of their names.
func (r *Reader) find(ctx context.Context) error {
	for _, path := range r.paths {
		q, err := parse(path)
		if err != nil {
			return err
		}
		before := len(r.objects) + r.archived
		if err := r.list(ctx, &q); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if len(r.objects)+r.archived == before {
			return fmt.Errorf("%s: %s", path, r.explainEmpty(&q))
		}
	}
	slices.SortFunc(r.objects, func(a, b object) int { return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.key, b.key)) })
	r.objects = slices.CompactFunc(r.objects, func(a, b object) bool { return a.bucket == b.bucket && a.key == b.key })
	for i := range r.objects {
		r.bytes += r.objects[i].size
	}
	if len(r.objects) == 0 {
		return r.errArchived()
	}
	return nil
}

// explainEmpty returns why a path stands for no object, and where to look.
func (r *Reader) explainEmpty(q *query) string {
	see := ": see what there is with aws s3 ls " + Scheme + q.bucket + "/"
	switch {
	case r.Last > 0:
		return "no object was written in the last " + wording.Span(r.Last) + see
	case q.pattern != "":
		return "no object matches" + see
	}
	return "there are no objects under this prefix" + see
}

// list lists the objects of a query, several days at once.
func (r *Reader) list(ctx context.Context, q *query) error {
	from, prefixes := time.Time{}, []string{q.prefix}
	if r.Last > 0 {
		from = time.Now().Add(-r.Last)
		days, err := r.days(ctx, q, from)
		if err != nil {
			return err
		}
		if days != nil {
			prefixes = days
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, prefix := range prefixes {
		g.Go(func() error { return r.pages(ctx, q, prefix, from) })
	}
	return g.Wait()
}

// pages lists the objects under a prefix that were written at a time or later.
func (r *Reader) pages(ctx context.Context, q *query, prefix string, from time.Time) error {
	return r.eachPage(ctx, &s3.ListObjectsV2Input{Bucket: &q.bucket, Prefix: &prefix}, func(page *s3.ListObjectsV2Output) (done bool, err error) {
		for i := range page.Contents {
			one := prefix != "" && aws.ToString(page.Contents[i].Key) == prefix && q.pattern == ""
			if err := r.add(q, &page.Contents[i], from); err != nil || one {
				return true, err // the path names this object alone
			}
		}
		return false, nil
	})
}

// eachPage calls do with each page of a listing until done. A listing that returns to a
// page fails. Each page is compared with the page of the last power of two, and any cycle
// passes that page in time.
func (r *Reader) eachPage(ctx context.Context, in *s3.ListObjectsV2Input, do func(*s3.ListObjectsV2Output) (done bool, err error)) error {
	passed := ""
	for pages := 1; ; pages++ {
		page, err := r.page(ctx, in)
		if err != nil {
			return err
		}
		if done, err := do(page); done || err != nil || !aws.ToBool(page.IsTruncated) {
			return err
		}
		in.ContinuationToken = page.NextContinuationToken
		token := aws.ToString(in.ContinuationToken)
		if token == passed {
			return fmt.Errorf("the listing of %s%s goes in circles: page %d leads back to a page before it; ask whoever runs this endpoint", Scheme, aws.ToString(in.Bucket), pages)
		}
		if pages&(pages-1) == 0 {
			passed = token
		}
	}
}

// add adds an object, unless the query excludes it.
func (r *Reader) add(q *query, of *types.Object, from time.Time) error {
	o := object{q.bucket, aws.ToString(of.Key), aws.ToString(of.ETag), aws.ToInt64(of.Size)}
	if o.size == 0 || !q.wants(o.key) || of.LastModified != nil && of.LastModified.Before(from) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case of.StorageClass == types.ObjectStorageClassGlacier, of.StorageClass == types.ObjectStorageClassDeepArchive:
		r.archived++
	case len(r.objects) == maxObjects:
		return fmt.Errorf("there are more than %s objects: give a longer prefix, or --last", wording.Count(maxObjects))
	default:
		r.objects = append(r.objects, o)
	}
	r.status.listed++
	return nil
}

// The folders of a trail: above its Regions, an account's, and a Region's.
var (
	trailFolder = regexp.MustCompile(`(?:^|/)AWSLogs/(?:o-[a-z0-9]+/)?(?:[0-9]{12}/(?:CloudTrail/)?)?$`)
	trailOwner  = regexp.MustCompile(`(?:^|/)AWSLogs/(?:o-[a-z0-9]+/)?[0-9]{12}/$`)
	trailRegion = regexp.MustCompile(`^(?:.*/)?AWSLogs/(?:o-[a-z0-9]+/)?[0-9]{12}/CloudTrail/[a-z0-9-]+/`)
)

// days returns the prefixes of the days since a time, in every account and Region of
// CloudTrail's layout; nil if the query has another layout.
func (r *Reader) days(ctx context.Context, q *query, from time.Time) (all []string, err error) {
	if q.pattern != "" {
		return nil, nil
	}
	regions := []string{trailRegion.FindString(q.prefix)}
	if regions[0] == "" {
		at := strings.TrimSuffix(q.prefix, "/") + "/"
		if regions, err = r.regions(ctx, q.bucket, strings.TrimPrefix(at, "/")); err != nil || regions == nil {
			return nil, err
		}
	}
	all = []string{}
	for _, region := range regions {
		for day := from.UTC().Truncate(24 * time.Hour); !day.After(time.Now()); day = day.AddDate(0, 0, 1) {
			prefix := region + day.Format("2006/01/02/")
			switch { // the query may be for a year, a month or a day, or for less than one
			case strings.HasPrefix(prefix, q.prefix):
				all = append(all, prefix)
			case strings.HasPrefix(q.prefix, prefix):
				all = append(all, q.prefix)
			}
		}
	}
	return all, nil
}

// regions returns the folders of Regions in a folder and below.
func (r *Reader) regions(ctx context.Context, bucket, at string) (all []string, err error) {
	if trailOwner.MatchString(at) {
		at += "CloudTrail/"
	}
	below, err := r.folders(ctx, bucket, at)
	if err != nil || strings.HasSuffix(at, "/CloudTrail/") && trailFolder.MatchString(at) {
		return below, err
	}
	for _, folder := range below {
		if !trailFolder.MatchString(folder) {
			continue
		}
		in, err := r.regions(ctx, bucket, folder)
		if err != nil {
			return nil, err
		}
		all = append(all, in...)
	}
	return all, nil
}

func (r *Reader) folders(ctx context.Context, bucket, at string) (all []string, err error) {
	in := &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &at, Delimiter: aws.String("/")}
	err = r.eachPage(ctx, in, func(page *s3.ListObjectsV2Output) (bool, error) {
		for _, p := range page.CommonPrefixes {
			all = append(all, aws.ToString(p.Prefix))
		}
		if len(all) > maxObjects {
			return true, fmt.Errorf("there are more than %s folders in %s: give a longer prefix", wording.Count(maxObjects), Scheme+bucket+"/"+wording.Printable(at))
		}
		return false, nil
	})
	return all, err
}
