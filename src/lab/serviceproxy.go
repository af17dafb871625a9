package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

// serviceProxy stands for kube-proxy and CoreDNS, in one place for all nodes: a Service's cluster address is an
// address of the bridge, and its TCP ports are forwarded to ready endpoints; the cluster's DNS answers for Services.
// There is no UDP, no NodePort and no session affinity.
type serviceProxy struct {
	reaper   *reaper
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
	dirty    chan struct{}

	mu        sync.Mutex
	addresses map[string]bool         // on the bridge
	listeners map[string]net.Listener // by address:port
	backends  map[string][]string     // by address:port
	turn      atomic.Uint64
}

func startServiceProxy(client kubernetes.Interface, r *reaper) error {
	api, err := net.Listen("tcp", net.JoinHostPort(apiServiceIP, "443"))
	if err != nil {
		return err
	}
	go forward(api, func() (string, error) { return fmt.Sprintf("127.0.0.1:%d", apiServerPort), nil })

	factory := informers.NewSharedInformerFactory(client, 0)
	p := &serviceProxy{reaper: r, services: factory.Core().V1().Services().Lister(), slices: factory.Discovery().V1().EndpointSlices().Lister(),
		dirty: make(chan struct{}, 1), addresses: map[string]bool{}, listeners: map[string]net.Listener{}, backends: map[string][]string{}}
	changed := func() {
		select {
		case p.dirty <- struct{}{}:
		default:
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { changed() }, UpdateFunc: func(any, any) { changed() }, DeleteFunc: func(any) { changed() }}
	_, err1 := factory.Core().V1().Services().Informer().AddEventHandler(handler)
	_, err2 := factory.Discovery().V1().EndpointSlices().Informer().AddEventHandler(handler)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	factory.Start(context.Background().Done())
	go func() {
		factory.WaitForCacheSync(context.Background().Done())
		for range p.dirty {
			if err := p.sync(); err != nil {
				log.Printf("services: %v", err)
				time.AfterFunc(time.Second, changed)
			}
		}
	}()
	return p.serveDNS()
}

func (p *serviceProxy) sync() error {
	services, err := p.services.List(labels.Everything())
	if err != nil {
		return err
	}
	wanted := map[string][]string{}
	for _, service := range services {
		if net.ParseIP(service.Spec.ClusterIP) == nil || service.Spec.ClusterIP == apiServiceIP {
			continue // headless, or the one that must work before the API server answers
		}
		for _, port := range service.Spec.Ports {
			if port.Protocol == corev1.ProtocolTCP {
				wanted[net.JoinHostPort(service.Spec.ClusterIP, fmt.Sprint(port.Port))] = p.endpoints(service, port.Name)
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.backends = wanted
	for at, l := range p.listeners {
		if _, ok := wanted[at]; !ok {
			l.Close()
			delete(p.listeners, at)
		}
	}
	var errs []error
	for at := range wanted {
		if _, ok := p.listeners[at]; ok {
			continue
		}
		host, _, _ := net.SplitHostPort(at)
		if !p.addresses[host] {
			if err := ipBatch(p.reaper, "addr add "+host+"/32 dev "+bridgeName); err != nil {
				errs = append(errs, err)
				continue
			}
			p.addresses[host] = true
		}
		l, err := net.Listen("tcp", at)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.listeners[at] = l
		go forward(l, func() (string, error) { return p.pick(at) })
	}
	return errors.Join(errs...)
}

// endpoints lists the ready addresses behind a Service's port.
func (p *serviceProxy) endpoints(service *corev1.Service, portName string) []string {
	var out []string
	slices, _ := p.slices.EndpointSlices(service.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service.Name}))
	for _, slice := range slices {
		for _, port := range slice.Ports {
			if port.Port == nil || port.Name != nil && *port.Name != portName {
				continue
			}
			for _, endpoint := range slice.Endpoints {
				if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
					for _, address := range endpoint.Addresses {
						out = append(out, net.JoinHostPort(address, fmt.Sprint(*port.Port)))
					}
				}
			}
		}
	}
	return out
}

func (p *serviceProxy) pick(at string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	backends := p.backends[at]
	if len(backends) == 0 {
		return "", fmt.Errorf("no endpoints")
	}
	return backends[p.turn.Add(1)%uint64(len(backends))], nil
}

// serveDNS answers for NAME.NAMESPACE.svc.cluster.local over UDP, and knows nothing else.
func (p *serviceProxy) serveDNS() error {
	if err := ipBatch(p.reaper, "addr add "+dnsServiceIP+"/32 dev "+bridgeName); err != nil {
		return err
	}
	p.addresses[dnsServiceIP] = true
	conn, err := net.ListenPacket("udp", net.JoinHostPort(dnsServiceIP, "53"))
	if err != nil {
		return err
	}
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if answer, err := p.answer(buffer[:n]); err == nil {
				conn.WriteTo(answer, from) //nolint:errcheck
			}
		}
	}()
	return nil
}

func (p *serviceProxy) answer(query []byte) ([]byte, error) {
	var parser dnsmessage.Parser
	header, err := parser.Start(query)
	if err != nil {
		return nil, err
	}
	question, err := parser.Question()
	if err != nil {
		return nil, err
	}
	addresses, known := p.resolve(strings.ToLower(question.Name.String()))
	response := dnsmessage.Header{ID: header.ID, Response: true, Authoritative: true, RecursionDesired: header.RecursionDesired, RecursionAvailable: true}
	if !known {
		response.RCode = dnsmessage.RCodeNameError
	}
	b := dnsmessage.NewBuilder(nil, response)
	if err := errors.Join(b.StartQuestions(), b.Question(question), b.StartAnswers()); err != nil {
		return nil, err
	}
	if question.Type == dnsmessage.TypeA {
		for _, address := range addresses {
			var a [4]byte
			copy(a[:], net.ParseIP(address).To4())
			if err := b.AResource(dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: 5}, dnsmessage.AResource{A: a}); err != nil {
				return nil, err
			}
		}
	}
	return b.Finish()
}

func (p *serviceProxy) resolve(name string) (addresses []string, known bool) {
	labelsOf := strings.Split(strings.TrimSuffix(name, ".svc.cluster.local."), ".")
	if !strings.HasSuffix(name, ".svc.cluster.local.") || len(labelsOf) != 2 {
		return nil, false
	}
	service, err := p.services.Services(labelsOf[1]).Get(labelsOf[0])
	if err != nil {
		return nil, false
	}
	if service.Spec.ClusterIP != corev1.ClusterIPNone {
		return []string{service.Spec.ClusterIP}, true
	}
	seen := map[string]bool{}
	for _, port := range service.Spec.Ports {
		for _, endpoint := range p.endpoints(service, port.Name) {
			if host, _, err := net.SplitHostPort(endpoint); err == nil && !seen[host] {
				seen[host] = true
				addresses = append(addresses, host)
			}
		}
	}
	return addresses, true
}
