import './pets.css'
import { VisuallyHidden } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import type { Pet, PetstoreClient } from '../../client/index.ts'
import { Header } from '../components/header.tsx'
import { IconCode, IconDownload, IconTablePlus } from '../components/icons.tsx'
import { NotLoaded } from '../components/not-loaded.tsx'
import { useShortcuts } from '../keyboard.ts'
import { petstoreWith } from '../petstore.ts'
import type { ApiCall } from '../requests/texts.ts'
import { pageCall } from './calls.ts'
import { messages } from './messages.ts'
import { useNewPet } from './new-pet.ts'
import { petResource, statusNames } from './pet.ts'
import { PetList } from './pet-list.tsx'
import { focusedRow, rowOf } from './pet-table.tsx'
import { countsOptions, pageSize, totalOf, usePage, usePet, usePrefetchPet } from './queries.ts'
import { StatusFilter } from './status-filter.tsx'
import { Tool, Tools } from './tools.tsx'
import { type Place, show, useView } from './view.ts'

const loadAddPet = () => import('./add-pet.tsx').catch(notLoaded)
const loadPetPanel = () => import('./pet-panel.tsx').catch(notLoaded)
const AddPet = lazy(loadAddPet)
const PetPanel = lazy(loadPetPanel)
const Help = lazy(() => import('../components/help.tsx').catch(notLoaded))
const RequestDrawer = lazy(() => import('../requests/request-drawer.tsx').catch(notLoaded))
const BulkAdd = lazy(() => import('../bulk/bulk-add.tsx').catch(notLoaded))
const ExportSheet = lazy(() => import('../bulk/export-sheet.tsx').catch(notLoaded))

function notLoaded() {
  return { default: NotLoaded }
}

interface PetsProps {
  apiKey: string
  onSignOut: () => void
}

export function Pets({ apiKey, onSignOut }: PetsProps) {
  const view = useView()
  const page = usePage(view)
  const openPet = usePet(view.pet).data
  // A client of its own: otherwise the list would wait for the counts, as a part of the same request.
  const [counter] = useState<PetstoreClient>(() => petstoreWith(apiKey))
  const counts = useQuery(countsOptions(counter)).data
  const [isAdding, setIsAdding] = useState(false)
  const [bulk, setBulk] = useState<'add' | 'export'>()
  const [isHelpOpen, setIsHelpOpen] = useState(false)
  const [calls, setCalls] = useState<ApiCall[]>()
  const [added, setAdded] = useState<Pet[]>([])
  const prefetchPet = usePrefetchPet()
  const newPet = useNewPet((pet) => setAdded((others) => [pet, ...others]))
  const goToId = useRef<HTMLInputElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const listTitle = messages.list.title(view.status && statusNames[view.status])
  useDocumentTitle(messages.page.title(openPet?.name.trim() || listTitle))
  usePanelsInAdvance(page.isSuccess)
  // The sign-in form, which had the focus, is gone.
  useEffect(() => heading.current?.focus(), [])

  function open(petId: bigint) {
    closeForm()
    const isOpen = view.pet !== undefined
    show({ ...view, pet: petId, isOverList: view.isOverList || !isOpen }, { replace: isOpen })
  }

  function prepareToOpen(petId: bigint) {
    prefetchPet(petId)
    void loadPetPanel()
  }

  function closePet() {
    if (view.isOverList) history.back()
    else show({ ...view, pet: undefined }, { replace: true })
  }

  function openForm() {
    setIsAdding(true)
    // The field has the focus already if the form was just opened.
    document.querySelector<HTMLElement>('.add-pet [data-autofocus]')?.focus()
  }

  function closeForm() {
    if (newPet.isPending) return
    newPet.reset()
    setIsAdding(false)
  }

  /** Shows another part of the list. The panel stays open. */
  function turnTo(place: Place) {
    show({ ...view, cursor: 0n, earlierCursors: [], ...place, isOverList: false })
  }

  function dismissAdded() {
    setAdded([])
    heading.current?.focus()
  }

  /** Moves to another pet of the page: in the panel if it is open, otherwise with the focus. */
  function move(step: 1 | -1) {
    const pets = page.data?.slice(0, pageSize) ?? []
    const row = focusedRow()
    const index = pets.findIndex(({ id }) => id === (view.pet ?? row))
    const next = pets[index === -1 ? 0 : index + step]
    if (!next) return
    if (view.pet !== undefined) open(next.id)
    if (view.pet === undefined || row !== undefined) rowOf(next.id)?.focus()
    rowOf(next.id)?.scrollIntoView({ block: 'nearest' })
  }

  useShortcuts({
    add: openForm,
    goToId: () => goToId.current?.focus(),
    help: () => setIsHelpOpen(true),
    nextItem: () => move(1),
    previousItem: () => move(-1),
  })

  return (
    <>
      <Header onHelp={() => setIsHelpOpen(true)} onSignOut={onSignOut} />
      <main className="page">
        <div className="tool-line">
          <h1 ref={heading} tabIndex={-1}>
            {messages.page.list}
          </h1>
          <StatusFilter status={view.status} counts={counts} onChange={(status) => turnTo({ status })} />
          <Tools goToId={goToId} onFind={open} onAdd={openForm} onAddIntent={() => void loadAddPet()}>
            <Tool label={messages.request.open} icon={<IconCode />} onClick={() => setCalls([pageCall(view, page)])} />
            <Tool label={messages.export.open} icon={<IconDownload />} onClick={() => setBulk('export')} />
            <Tool label={messages.bulk.open} icon={<IconTablePlus />} onClick={() => setBulk('add')} />
          </Tools>
        </div>
        <VisuallyHidden role="status">{added[0] && messages.add.added(added[0].name, added[0].id)}</VisuallyHidden>
        <div className="workspace" data-with-panel={isAdding || view.pet !== undefined || undefined}>
          <PetList
            view={view}
            page={page}
            counts={counts}
            added={added}
            onOpen={open}
            onOpenIntent={prepareToOpen}
            onTurn={turnTo}
            onAdd={openForm}
            onAddMany={() => setBulk('add')}
            onDismiss={dismissAdded}
          />
          <Suspense>
            {isAdding ? (
              <AddPet newPet={newPet} status={view.status} onRequest={setCalls} onClose={closeForm} />
            ) : (
              view.pet !== undefined && (
                <PetPanel
                  petId={view.pet}
                  onPrevious={() => move(-1)}
                  onNext={() => move(1)}
                  onRequest={setCalls}
                  onClose={closePet}
                />
              )
            )}
          </Suspense>
        </div>
        <Suspense>
          {bulk === 'add' && <BulkAdd resource={petResource} onClose={() => setBulk(undefined)} />}
          {bulk === 'export' && (
            <ExportSheet
              resource={petResource}
              filter={view.status ? { status: view.status } : {}}
              part={view.status && statusNames[view.status]}
              total={totalOf(counts, view.status)}
              onClose={() => setBulk(undefined)}
            />
          )}
          {calls && <RequestDrawer calls={calls} apiKey={apiKey} onClose={() => setCalls(undefined)} />}
          {isHelpOpen && <Help onClose={() => setIsHelpOpen(false)} />}
        </Suspense>
      </main>
    </>
  )
}

/** Loads the panels once the list is loaded, so that they open at once, also if the service is away by then. */
function usePanelsInAdvance(isListLoaded: boolean): void {
  useEffect(() => {
    if (isListLoaded) void Promise.all([loadAddPet(), loadPetPanel()])
  }, [isListLoaded])
}
