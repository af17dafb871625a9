package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clientcmdlatest "k8s.io/client-go/tools/clientcmd/api/latest"
)

// authority is the lab's certificate authority, as kubeadm would make one.
type authority struct {
	cert    *x509.Certificate
	key     crypto.Signer
	certPEM []byte
}

// keyPair is a certificate and its key, in PEM.
type keyPair struct{ cert, key []byte }

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certTemplate(pkix.Name{CommonName: "kubernetes"})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

func certTemplate(subject pkix.Name) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	return &x509.Certificate{SerialNumber: serial, Subject: subject,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour)}
}

// client issues a client certificate: to the API server the common name is the user, organisations are groups.
func (a *authority) client(user string, groups ...string) (keyPair, error) {
	template := certTemplate(pkix.Name{CommonName: user, Organization: groups})
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.issue(template)
}

func (a *authority) server(name string, addresses []string, names []string) (keyPair, error) {
	template := certTemplate(pkix.Name{CommonName: name})
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = names
	for _, address := range addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(address))
	}
	return a.issue(template)
}

func (a *authority) issue(template *x509.Certificate) (keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return keyPair{}, err
	}
	keyPEM, err := encodeKey(key)
	return keyPair{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), keyPEM}, err
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), err
}

// serviceAccountKeys are the private key that signs service account tokens and the public key that checks them.
func serviceAccountKeys() (keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return keyPair{}, err
	}
	private, err := encodeKey(key)
	return keyPair{pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), private}, err
}

// kubeconfig is a client configuration with everything embedded.
func (a *authority) kubeconfig(server, user string, groups ...string) ([]byte, error) {
	pair, err := a.client(user, groups...)
	if err != nil {
		return nil, err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["lab"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: a.certPEM}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: pair.cert, ClientKeyData: pair.key}
	config.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: user}
	config.CurrentContext = "lab"
	return runtime.Encode(clientcmdlatest.Codec, config)
}

// writePKI writes the control plane's keys and the kubeconfigs of its parts.
func (a *authority) writePKI(d layout, hostServer string) error {
	apiServer, err1 := a.server("kube-apiserver", []string{"127.0.0.1", bridgeAddress, apiServiceIP},
		[]string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"})
	kubeletClient, err2 := a.client("kube-apiserver-kubelet-client", "system:masters")
	serviceAccount, err3 := serviceAccountKeys()
	caKey, err4 := encodeKey(a.key.(*ecdsa.PrivateKey))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	inside := fmt.Sprintf("https://127.0.0.1:%d", apiServerPort)
	manager, err1 := a.kubeconfig(inside, "system:kube-controller-manager")
	scheduler, err2 := a.kubeconfig(inside, "system:kube-scheduler")
	daemon, err3 := a.kubeconfig(inside, "numalab", "system:masters")
	admin, err4 := a.kubeconfig(hostServer, "kubernetes-admin", "system:masters")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	if err := os.MkdirAll(d.path("pki"), 0o700); err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"ca.crt": a.certPEM, "ca.key": caKey,
		"apiserver.crt": apiServer.cert, "apiserver.key": apiServer.key,
		"apiserver-kubelet-client.crt": kubeletClient.cert, "apiserver-kubelet-client.key": kubeletClient.key,
		"sa.pub": serviceAccount.cert, "sa.key": serviceAccount.key,
		"controller-manager.conf": manager, "scheduler.conf": scheduler, "labd.conf": daemon,
	} {
		if err := os.WriteFile(d.pki(name), data, 0o600); err != nil {
			return err
		}
	}
	return writeFileAtomically(d.kubeconfig(), admin, 0o600)
}
